#include "mapper/common/too_small_text.h"
#include "model/bind/operand_costs.h"
#include "search.h"
#include "sluice/support/human_units.h"

namespace sluice::fused {
namespace {

/// Whether the Einsum is in a recurrence of several Einsums.
bool is_recurrent(const EinsumShape& shape) {
  return shape.recurrence.step.has_value() || shape.recurrence.continues;
}

void blame_recurrence(const std::string& einsum, NoMapping* no) {
  no->reason = "Einsum " + einsum +
               ": the Einsums of a recurrence stand below one loop over its steps, and here no "
               "mapping with such a loop fits";
  no->nearest_relaxation =
      "allow a fused loop, or let a larger memory keep what these Einsums exchange";
}

/// Why these are no small tiles.
std::string persistent_among(const BoundProblem& problem, std::vector<TensorId> tensors) {
  std::erase_if(tensors, [&](TensorId own) { return !problem.workload[own].persistent; });
  if (tensors.empty()) return "";
  return " (" + names_of_tensors(problem, tensors) +
         " whole: no loop stands above what is persistent)";
}

NoMapping without_storage(const std::string& einsum) {
  NoMapping no;
  no.reason = "Einsum " + einsum +
              ": no memory hierarchy holds all its tensors (keep, may_keep and constraints leave "
              "some tensor without storage, or no compute accepts it)";
  no.nearest_relaxation = "let the outermost memory keep every tensor (may_keep: All)";
  return no;
}

}  // namespace

/// Of the Einsums that have nothing, one that says which memory is too small: what others lack may
/// follow from that. Else the first.
std::optional<std::size_t> Search::first_without_mapping() const {
  std::optional<std::size_t> first;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    if (!tables_[e]->groups.empty()) continue;
    if (tables_[e]->miss.known) return e;
    if (!first) first = e;
  }
  return first;
}

NoMapping Search::explain_alone(std::size_t e) const {
  const PmappingTable& table = *tables_[e];
  const std::string& name = problem_.workload[shapes_[e].einsum].name;
  NoMapping no;
  if (templates_[e].empty()) {
    no = without_storage(name);
  } else if (table.miss.known) {
    no.einsum = shapes_[e].einsum;
    for (const LocalTensor& tensor : shapes_[e].tensors)
      if (hold_of(problem_, *no.einsum, table.miss.component, tensor.id).may)
        no.tensors.push_back(tensor.id);
    no.memory = table.miss.component;
    no.excess_bits = table.miss.excess_bits;
    tell_too_small(problem_, &no);
    no.reason += persistent_among(problem_, no.tensors);
  } else {
    for (const LocalTensor& tensor : shapes_[e].tensors) no.tensors.push_back(tensor.id);
    if (is_recurrent(shapes_[e]))
      blame_recurrence(name, &no);
    else
      no.reason = "Einsum " + name + ": no tile shape meets all limits together";
  }
  no.einsum = shapes_[e].einsum;
  return no;
}

NoMapping Search::explain_join(const JoinResult& join) const {
  NoMapping no;
  no.einsum = join.failed_at;
  const std::string& name = problem_.workload[*no.einsum].name;
  for (const LocalTensor& tensor : shapes_[no.einsum->index()].tensors)
    if (tensor.shared) no.tensors.push_back(tensor.id);
  const std::string tensors = names_of_tensors(problem_, no.tensors);
  if (join.memory) {
    no.memory = join.memory;
    no.excess_bits = join.excess_bits;
    const std::string& memory = problem_.arch[*join.memory].name;
    no.reason = "joining Einsum " + name + ": " + memory + " is exceeded by " +
                human_size(join.excess_bits) +
                " in the mapping that comes closest (shared tensors " + tensors + ")";
    for (const TrackedMemory& tracked : tracked_)
      if (tracked.component == *join.memory)
        needed_size(problem_, *join.memory, tracked.size_bits + join.excess_bits, &no);
  } else if (is_recurrent(shapes_[no.einsum->index()])) {
    blame_recurrence(name, &no);
  } else {
    no.reason = "joining Einsum " + name +
                ": its mappings agree with none of the mappings before it on where and under which "
                "loops " +
                tensors + " is exchanged";
    no.nearest_relaxation =
        "allow more fused loops, or let the outermost memory keep the intermediates";
  }
  return no;
}

NoMapping Search::explain(const JoinResult& join) const {
  if (const auto einsum = first_without_mapping()) return explain_alone(*einsum);
  if (join.failed_at) return explain_join(join);
  NoMapping no;
  no.reason = "the workload has no Einsums";
  return no;
}

}  // namespace sluice::fused
