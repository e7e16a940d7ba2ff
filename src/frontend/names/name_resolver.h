#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Finds what the names of a mapping or constraint stand for; an unknown name is reported with the
/// nearest known one. A null node gives nothing silently.
class NameResolver {
 public:
  NameResolver(ReadContext& context, const Workload& workload, const Arch& arch);

  std::optional<TensorId> tensor(const YamlNode* node);
  std::optional<EinsumId> einsum(const YamlNode* node);
  std::optional<RankVariableId> variable(const YamlNode* node);
  std::optional<ComponentId> component(const YamlNode* node);
  /// One that holds tensors.
  std::optional<ComponentId> memory(const YamlNode* node);
  /// A spatial dimension of the component, by index.
  std::optional<std::uint32_t> dimension(ComponentId component, const YamlNode* node);
  /// A spatial dimension of any component, by name.
  std::optional<std::string> dimension_name(const YamlNode* node);

  /// Lists, or single ones.
  std::vector<TensorId> tensors(const YamlNode* node);
  /// A set of tensors (`All`, `{A, B}`, `~Intermediates`, a list): those of one Einsum, or of all.
  std::vector<TensorId> tensor_set(const YamlNode* node, std::optional<EinsumId> einsum);
  std::vector<EinsumId> einsums(const YamlNode* node);
  std::vector<RankVariableId> variables(const YamlNode* node);
  std::vector<std::string> dimension_names(const YamlNode* node);

 private:
  using Index = std::unordered_map<std::string, std::size_t>;
  std::optional<std::size_t> find(const YamlNode* node, const Index& index, const char* what);
  void add_set(const YamlNode& part, std::optional<EinsumId> einsum, std::set<TensorId>& tensors);

  ReadContext& context_;
  const Workload& workload_;
  const Arch& arch_;
  Index tensors_, einsums_, variables_, components_;
  std::unordered_map<const Index*, std::vector<std::string>> sorted_names_;  ///< for hints
};

}  // namespace sluice
