#include "network/workload_text.h"

#include <fmt/format.h>

#include <cctype>

#include "network/layer_axes.h"

namespace sluice {

void WorkloadText::add_window(const std::string& rank) {
  if (!rank.empty()) windows_[lower(rank)] = rank.substr(1);
}

/// Names in the Einsums.
std::set<std::string> WorkloadText::words() const {
  std::set<std::string> words;
  for (const std::string& einsum : einsums_)
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

std::string WorkloadText::text() const {
  std::string text =
      fmt::format("variables: {{BATCH: 1, BITS: 16}}\nworkload:\n  name: {}\n", name_);
  text += "  rank_sizes:\n    N: BATCH\n";
  const std::set<std::string> used = words();
  for (const auto& [name, size] : sizes_)
    if (used.count(name) + used.count(lower(name)) > 0)
      text += fmt::format("    {}: {}\n", name, size);
  const auto flow = [](const auto& entries, const auto& print) {
    std::string list;
    for (const auto& entry : entries) list += (list.empty() ? "" : ", ") + print(entry);
    return "{" + list + "}\n";
  };
  if (!windows_.empty())
    text += "  iteration_space_shape: " + flow(windows_, [](const auto& window) {
              return fmt::format("{}: 0 <= {} < {}", window.first, window.first, window.second);
            });
  if (!holes_.empty())
    text += "  initial: " + flow(holes_, [](const std::string& tensor) { return tensor + ": 0"; });
  text +=
      "  bits_per_value: {All: BITS}\n  persistent_tensors: weight - Intermediates\n  einsums:\n";
  for (const std::string& einsum : einsums_) text += einsum;
  return text +
         "renames:\n  einsums:\n  - name: default\n    tensor_accesses:\n    - {name: input, "
         "source: "
         "Inputs}\n    - {name: output, source: Outputs}\n    - {name: weight, source: "
         "Nothing}\n";
}

}  // namespace sluice
