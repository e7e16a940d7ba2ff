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

std::vector<std::vector<EinsumId>> users_of_tensors(const Workload& workload) {
  std::vector<std::vector<EinsumId>> users(workload.tensors.size());
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    for (const TensorAccess& access : workload.einsums[e].accesses) {
      std::vector<EinsumId>& of_tensor = users[access.tensor.index()];
      if (of_tensor.empty() || of_tensor.back() != EinsumId(e)) of_tensor.emplace_back(e);
    }
  return users;
}

}  // namespace sluice
