#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// `text` as a YAML scalar that means the same inside `{…}` and `[…]` too: in double quotes where a
/// plain one would be read as something else.
std::string yaml_scalar(std::string_view text);

/// A number in the shortest form that reads back to the same value.
std::string yaml_number(double value);

/// `{key: value, …}` on one line. Values are YAML text already.
class YamlFlowMap {
 public:
  YamlFlowMap& add(std::string_view key, std::string_view value);
  bool empty() const { return text_.empty(); }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

/// `[a, b]`; items are YAML text already.
std::string yaml_list(const std::vector<std::string>& items);

}  // namespace sluice
