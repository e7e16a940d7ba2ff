#include "mapping/einsums_below.h"

namespace sluice {

std::vector<EinsumId> einsums_below(const NodeList& nodes) {
  std::vector<EinsumId> found;
  for (const Node& node : nodes) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
      found.push_back(compute->einsum);
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) {
        const std::vector<EinsumId> below = einsums_below(child);
        found.insert(found.end(), below.begin(), below.end());
      }
  }
  return found;
}

}  // namespace sluice
