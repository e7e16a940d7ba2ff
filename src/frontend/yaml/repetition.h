#pragma once

#include <functional>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// Unfolds the structural repetition inside lists. An item that is a map with
///   `for: {i: 0..N-1}`  is repeated for every value (`{i}`, `{i+1}` in its texts are replaced),
///   `if: expression`    is kept or dropped,
///   `items: [...]`      stands for the items of that list,
///   `include: FILE`     stands for the items of that file's list (through `include_list`).
/// What is unfolded counts against the limit of nodes.
class Repetition {
 public:
  using IncludeList = std::function<YamlPointer(const YamlNode& file_name)>;
  Repetition(ReadContext& context, IncludeList include_list)
      : context_(context), include_list_(std::move(include_list)) {}

  YamlPointer unfold(const YamlPointer& node);

 private:
  struct LoopVariable {
    std::string name;
    double value = 0;
  };

  void unfold_item(const YamlPointer& item, std::vector<YamlPointer>& result);
  void unfold_body(const YamlNode& item, std::vector<YamlPointer>& result);
  void repeat(const YamlNode& item, const YamlNode& loops, std::size_t loop,
              std::vector<YamlPointer>& result);
  std::vector<double> loop_values(const YamlNode& values);
  std::optional<double> loop_bound(const YamlNode& node, const std::string& text,
                                   std::size_t offset);
  bool condition(const YamlNode& node);
  std::string with_loop_variables(const YamlNode& scalar);
  std::optional<std::string> loop_expression(const YamlNode& scalar, const std::string& text,
                                             std::size_t offset);
  std::optional<Expression> variable(const std::string& name) const;
  bool is_loop_variable(const std::string& name) const;
  bool count(const YamlNode& place, std::size_t n_nodes);

  ReadContext& context_;
  IncludeList include_list_;
  std::vector<LoopVariable> loop_variables_;
  std::size_t n_nodes_ = 0;
  bool stopped_ = false;
};

}  // namespace sluice
