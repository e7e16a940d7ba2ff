#include "network/workload_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "network/layer_axes.h"

namespace sluice {
namespace {

/// A text of any kind as a YAML scalar.
std::string in_yaml(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
      std::all_of(text.begin(), text.end(), is_plain))
    return text;
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return fmt::format("'{}'", quoted);
}

}  // namespace

void WorkloadText::add_window(const std::string& rank) {
  if (!rank.empty()) windows_[lower(rank)] = rank.substr(1);
}

/// Names in the Einsums.
std::set<std::string> WorkloadText::words() const {
  std::set<std::string> words;
  for (const auto& [einsum, line] : einsums_)
    for (std::size_t begin = 0; begin < einsum.size();) {
      const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      };
      std::size_t end = begin;
      while (end < einsum.size() && is_part(einsum[end])) ++end;
      if (end > begin) words.insert(einsum.substr(begin, end - begin));
      begin = end + 1;
    }
  return words;
}

NetworkWorkload WorkloadText::workload() const {
  NetworkWorkload result;
  const auto add = [&result](const std::string& text, int table_line) {
    result.yaml += text;
    const auto lines = std::count(text.begin(), text.end(), '\n');
    result.table_lines.insert(result.table_lines.end(), static_cast<std::size_t>(lines),
                              table_line);
  };
  add(fmt::format("variables: {{BATCH: 1, BITS: 16}}\nworkload:\n  name: {}\n", in_yaml(name_)), 0);
  add("  rank_sizes:\n    N: BATCH\n", 0);
  const std::set<std::string> used = words();
  for (const auto& [name, size] : sizes_)
    if (used.count(name) + used.count(lower(name)) > 0)
      add(fmt::format("    {}: {}\n", name, size), 0);
  const auto flow = [](const auto& entries, const auto& print) {
    std::string list;
    for (const auto& entry : entries) list += (list.empty() ? "" : ", ") + print(entry);
    return "{" + list + "}\n";
  };
  if (!windows_.empty())
    add("  iteration_space_shape: " + flow(windows_,
                                           [](const auto& window) {
                                             return fmt::format("{}: 0 <= {} < {}", window.first,
                                                                window.first, window.second);
                                           }),
        0);
  if (!holes_.empty())
    add("  initial: " + flow(holes_, [](const std::string& tensor) { return tensor + ": 0"; }), 0);
  std::string persistent = "weight - Intermediates";
  for (const std::string& tensor : passing_) persistent += " - " + tensor;
  add(fmt::format("  bits_per_value: {{All: BITS}}\n  persistent_tensors: {}\n  einsums:\n",
                  persistent),
      0);
  for (const auto& [einsum, line] : einsums_) add(einsum, line);
  add("renames:\n  einsums:\n  - name: default\n    tensor_accesses:\n    - {name: input, source: "
      "Inputs}\n    - {name: output, source: Outputs}\n    - {name: weight, source: Nothing}\n",
      0);
  return result;
}

}  // namespace sluice
