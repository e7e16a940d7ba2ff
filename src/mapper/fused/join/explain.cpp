#include <algorithm>

#include "search.h"
#include "sluice/support/human_units.h"

namespace sluice::fused {
namespace {

std::string tensor_names(const BoundProblem& problem, const std::vector<TensorId>& tensors) {
  std::string names;
  for (TensorId id : tensors) names += (names.empty() ? "" : ", ") + problem.workload[id].name;
  return names;
}

/// Whether the Einsum is in a recurrence of several Einsums.
bool is_recurrent(const EinsumShape& shape) {
  return shape.recurrence.step.has_value() || shape.recurrence.continues;
}

void blame_recurrence(const std::string& einsum, NoMapping* no) {
  no->reason = "Einsum " + einsum +
               ": the Einsums of a recurrence stand below one loop over its steps, the outermost "
               "one, and here no mapping with such a loop fits";
  no->nearest_relaxation =
      "allow a fused loop, or let a larger memory keep what these Einsums exchange";
}

}  // namespace

NoMapping Search::explain(const JoinResult& join) const {
  NoMapping no;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    const PmappingTable& table = *tables_[e];
    if (!table.groups.empty()) continue;
    no.einsum = shapes_[e].einsum;
    const std::string name = problem_.workload[*no.einsum].name;
    if (templates_[e].empty()) {
      no.reason = "Einsum " + name +
                  ": no memory hierarchy holds all its tensors (keep, may_keep and constraints "
                  "leave some tensor without storage, or no compute accepts it)";
      no.nearest_relaxation = "let the outermost memory keep every tensor (may_keep: All)";
      return no;
    }
    for (const LocalTensor& tensor : shapes_[e].tensors) no.tensors.push_back(tensor.id);
    if (!table.miss.known && is_recurrent(shapes_[e])) {
      blame_recurrence(name, &no);
      return no;
    }
    if (!table.miss.known) {
      no.reason = "Einsum " + name + ": no tile shape meets all limits together";
      return no;
    }
    no.memory = table.miss.component;
    no.excess_bits = table.miss.excess_bits;
    const Component& component = problem_.arch[*no.memory];
    no.reason = "Einsum " + name + ": even the smallest tiles of " +
                tensor_names(problem_, no.tensors) + " exceed " + component.name + " by " +
                std::to_string(static_cast<long long>(no.excess_bits)) + " bits";
    no.nearest_relaxation =
        "give " + component.name + " at least " +
        std::to_string(static_cast<long long>(
            problem_[*no.einsum].components[no.memory->index()].size_bits + no.excess_bits)) +
        " bits";
    return no;
  }
  if (!join.failed_at) {
    no.reason = "the workload has no Einsums";
    return no;
  }
  no.einsum = join.failed_at;
  const std::string name = problem_.workload[*no.einsum].name;
  for (const LocalTensor& tensor : shapes_[no.einsum->index()].tensors)
    if (tensor.shared) no.tensors.push_back(tensor.id);
  if (join.memory) {
    no.memory = join.memory;
    no.excess_bits = join.excess_bits;
    const Component& component = problem_.arch[*join.memory];
    no.reason = "joining Einsum " + name + ": " + component.name + " is exceeded by " +
                std::to_string(static_cast<long long>(join.excess_bits)) +
                " bits in the mapping that comes closest (shared tensors " +
                tensor_names(problem_, no.tensors) + ")";
    for (const TrackedMemory& memory : tracked_)
      if (memory.component == *join.memory)
        no.nearest_relaxation =
            "give " + component.name + " at least " +
            std::to_string(static_cast<long long>(memory.size_bits + join.excess_bits)) + " bits";
    return no;
  }
  if (is_recurrent(shapes_[no.einsum->index()])) {
    blame_recurrence(name, &no);
    return no;
  }
  no.reason = "joining Einsum " + name +
              ": its mappings agree with none of the mappings before "
              "it on where and under which loops " +
              tensor_names(problem_, no.tensors) + " is exchanged";
  no.nearest_relaxation =
      "allow more fused loops, or let the outermost memory keep the intermediates";
  return no;
}

}  // namespace sluice::fused
