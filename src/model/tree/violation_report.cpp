#include "model/tree/violation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

bool find_path(const NodeList& list, const Node* wanted, std::vector<std::size_t>& path) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    path.push_back(i);
    if (&list[i] == wanted) return true;
    if (const SplitNode* split = std::get_if<SplitNode>(&list[i].kind)) {
      for (std::size_t c = 0; c < split->children.size(); ++c) {
        path.push_back(c);
        if (find_path(split->children[c], wanted, path)) return true;
        path.pop_back();
      }
    }
    path.pop_back();
  }
  return false;
}

}  // namespace

Violation& ViolationReport::add(ViolationKind kind, const Node* node, std::string message) {
  constexpr std::size_t kFew = 16;  // are searched for one by one
  Violation violation;
  violation.kind = kind;
  violation.message = std::move(message);
  if (node && violations_.size() < kFew)
    find_path(mapping_.nodes, node, violation.node_path);
  else if (node)
    violation.node_path = indexed_path(node);
  return violations_.emplace_back(std::move(violation));
}

std::vector<std::size_t> ViolationReport::indexed_path(const Node* node) {
  if (places_.empty()) index(mapping_.nodes, {});
  std::vector<std::size_t> path;
  for (auto found = places_.find(node); found != places_.end();
       found = places_.find(found->second.split)) {
    path.push_back(found->second.index);
    if (found->second.split) path.push_back(found->second.child);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

void ViolationReport::index(const NodeList& list, NodeIndex outer) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    outer.index = i;
    places_.emplace(&list[i], outer);
    if (const SplitNode* split = std::get_if<SplitNode>(&list[i].kind))
      for (std::size_t c = 0; c < split->children.size(); ++c)
        index(split->children[c], {&list[i], c, 0});
  }
}

Violation& ViolationReport::add(ViolationKind kind, const Node* node, std::string message,
                                EinsumId einsum) {
  Violation& violation = add(kind, node, std::move(message));
  violation.einsum = einsum;
  return violation;
}

std::string ViolationReport::names(const std::vector<TensorId>& tensors) const {
  std::string text;
  for (TensorId tensor : tensors) text += (text.empty() ? "" : ", ") + name(tensor);
  return text;
}

std::string with_thousands(double value) {
  constexpr double kMostDigits = 1e15;
  if (!std::isfinite(value)) return std::isnan(value) ? "unknown" : value > 0 ? "inf" : "-inf";
  if (std::abs(value) >= kMostDigits) return fmt::format("{:.3e}", value);
  const bool is_whole = value == std::round(value);
  std::string digits = fmt::format("{:.{}f}", std::abs(value), is_whole ? 0 : 2);
  for (std::size_t i = digits.size() - (is_whole ? 0 : 3); i > 3; i -= 3) digits.insert(i - 3, ",");
  return (value < 0 ? "-" : "") + digits;
}

}  // namespace sluice
