#include "tree_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace sluice::cli {
namespace {

using Value = nlohmann::json;

/// A name, or a list of them.
std::string names_in(const Value& node, const char* key) {
  const Value value = node.value(key, Value());
  if (value.is_string()) return value.get<std::string>();
  std::vector<std::string> names;
  for (const Value& item : value)
    names.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string storage(const Value& node) {
  std::string text = names_in(node, "component") + " holds " + names_in(node, "tensors");
  for (const char* flag : {"persistent", "resident", "sliding", "incremental"})
    if (node.contains(flag)) text += fmt::format(" ({})", flag);
  if (node.contains("shared_by"))
    text +=
        fmt::format(" shared by {} along {}", node["shared_by"].dump(), names_in(node, "along"));
  return text;
}

std::string loop(const Value& node) {
  std::string text = fmt::format("for {} of {}", names_in(node, "rank_variable"),
                                 node.value("tile_shape", Value()).dump());
  if (node.value("node", "") == "Spatial")
    text += " across " + names_in(node, "component") + "." + names_in(node, "name");
  return text;
}

std::string line_of(const Value& node) {
  const std::string kind = node.value("node", "");
  if (kind == "Storage") return storage(node);
  if (kind == "Temporal" || kind == "Spatial") return loop(node);
  if (kind == "Compute")
    return names_in(node, "component") + " computes " + names_in(node, "einsum");
  if (kind == "Collective")
    return fmt::format("{} of {} over {}", names_in(node, "type"), names_in(node, "tensor"),
                       names_in(node, "over"));
  return kind;
}

void append(const Value& nodes, const std::string& indent, std::vector<std::string>* lines) {
  for (const Value& node : nodes) {
    if (!node.is_object()) continue;
    if (node.value("node", "") != "Nested") lines->push_back(indent + line_of(node));
    const bool is_split = node.contains("nodes") && node.value("node", "") != "Nested";
    if (node.contains("nodes")) append(node["nodes"], is_split ? indent + "  " : indent, lines);
  }
}

}  // namespace

std::vector<std::string> tree_lines(const Value& mapping) {
  std::vector<std::string> lines;
  if (mapping.is_object()) append(mapping.value("nodes", Value()), "", &lines);
  return lines;
}

namespace {

/// Above so many pairs of lines the shortest list of changes is not looked for.
constexpr std::size_t kMostPairs = 4'000'000;

/// common[i][j]: the longest common subsequence of what follows line i and line j.
using CommonLengths = std::vector<std::vector<std::uint32_t>>;

CommonLengths common_lengths(const std::vector<std::string>& before,
                             const std::vector<std::string>& after) {
  CommonLengths common(before.size() + 1, std::vector<std::uint32_t>(after.size() + 1, 0));
  if (before.size() * after.size() > kMostPairs) return common;
  for (std::size_t i = before.size(); i-- > 0;)
    for (std::size_t j = after.size(); j-- > 0;)
      common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1
                                           : std::max(common[i + 1][j], common[i][j + 1]);
  return common;
}

}  // namespace

std::vector<TreeLine> changed_lines(const std::vector<std::string>& before,
                                    const std::vector<std::string>& after) {
  if (before == after) return {};
  const std::size_t n = before.size(), m = after.size();
  const CommonLengths common = common_lengths(before, after);
  std::vector<TreeLine> lines;
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && before[i] == after[j]) {
      lines.push_back({' ', before[i++]});
      ++j;
    } else if (j == m || (i < n && common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back({'-', before[i++]});
    } else {
      lines.push_back({'+', after[j++]});
    }
  }
  return lines;
}

}  // namespace sluice::cli
