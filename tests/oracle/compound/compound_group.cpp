#include "oracle/compound/compound_group.h"

#include <algorithm>

#include "oracle/compound/compound_frame.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

bool stands_in(EinsumId einsum, std::size_t begin, std::size_t end) {
  return begin <= einsum.index() && einsum.index() < end;
}

void add_once(std::vector<TensorId>& tensors, TensorId tensor) {
  if (!contains(tensors, tensor)) tensors.push_back(tensor);
}

/// A variable of one Einsum.
struct Member {
  std::size_t einsum;
  RankVariableId variable;
  std::size_t label;  ///< of its class
};

/// Gives two members one label where they index one rank of one tensor.
void label_classes(const Workload& workload, std::vector<Member>& members) {
  const auto label_of = [&](std::size_t einsum, RankVariableId variable) {
    for (const Member& member : members)
      if (member.einsum == einsum && member.variable == variable) return member.label;
    return members.size();
  };
  const auto join = [&](std::size_t from, std::size_t to) {
    for (Member& member : members)
      if (member.label == from) member.label = to;
  };
  for (const Member& first : members)
    for (const Member& second : members)
      for (const TensorAccess& a : workload.einsums[first.einsum].accesses)
        for (const TensorAccess& b : workload.einsums[second.einsum].accesses)
          for (std::size_t rank = 0; a.tensor == b.tensor && rank < a.projection.size(); ++rank) {
            const bool both = a.projection[rank].is_plain_variable() &&
                              b.projection[rank].is_plain_variable() &&
                              a.projection[rank].terms[0].variable == first.variable &&
                              b.projection[rank].terms[0].variable == second.variable;
            if (both)
              join(label_of(first.einsum, first.variable),
                   label_of(second.einsum, second.variable));
          }
}

}  // namespace

GroupTensors tensors_of_group(const BoundProblem& problem, std::size_t begin, std::size_t end) {
  GroupTensors tensors;
  for (std::size_t e = begin; e < end; ++e)
    for (TensorId tensor : problem[EinsumId(e)].tensors) {
      const auto producer = problem.roles.sole_maker(tensor);
      const std::vector<EinsumId>& readers = problem.roles.consumers[tensor.index()];
      const auto inside = [&](EinsumId reader) { return stands_in(reader, begin, end); };
      const bool made_here = producer && stands_in(*producer, begin, end);
      const bool read_here = std::any_of(readers.begin(), readers.end(), inside);
      const bool read_here_only =
          !readers.empty() && std::all_of(readers.begin(), readers.end(), inside);
      if (made_here && read_here_only) {
        add_once(tensors.internal, tensor);
      } else {
        add_once(tensors.external, tensor);
        if (made_here && read_here) tensors.in_space = false;
      }
    }
  return tensors;
}

std::vector<VariableClass> classes_of_group(const Workload& workload, std::size_t begin,
                                            std::size_t end) {
  std::vector<Member> members;
  for (std::size_t e = begin; e < end; ++e)
    for (const VariableRange& range : workload.einsums[e].iteration_space)
      members.push_back({e, range.variable, members.size()});
  label_classes(workload, members);
  std::vector<VariableClass> classes;
  for (std::size_t label = 0; label < members.size(); ++label) {
    VariableClass one;
    for (std::size_t v = 0; v < workload.rank_variables.size(); ++v)
      for (const Member& member : members)
        if (member.label == label && member.variable == RankVariableId(v)) {
          one.variables.push_back(member.variable);
          break;
        }
    if (one.variables.empty()) continue;
    for (std::size_t e = begin; e < end; ++e) {
      std::size_t own = 0, moved = 0;
      for (const Member& member : members) {
        if (member.einsum != e) continue;
        own += member.label == label ? 1 : 0;
        moved +=
            std::count(one.variables.begin(), one.variables.end(), member.variable) > 0 ? 1 : 0;
      }
      one.usable &= own <= 1 && own == moved;
    }
    classes.push_back(one);
  }
  return classes;
}

std::vector<NodeList> ways_of_group(const BoundProblem& problem, std::size_t begin, std::size_t end,
                                    const CompoundLimits& limits) {
  const ComponentId outermost = outermost_memory(problem.arch);
  const GroupTensors tensors = tensors_of_group(problem, begin, end);
  if (!tensors.in_space) return {};
  for (std::size_t e = begin; e < end; ++e) {
    const EinsumId einsum(e);
    const Keeping keeps = keeping(problem, einsum, outermost);
    for (TensorId tensor : problem[einsum].tensors) {
      const bool internal = contains(tensors.internal, tensor);
      if (internal ? contains(keeps.must, tensor) : !may_hold(keeps, tensor)) return {};
    }
  }
  if (end - begin == 1) {
    const EinsumId einsum(begin);
    return nests_below(problem, einsum, outermost, whole_ranges(problem.workload[einsum]), {},
                       limits);
  }
  return framed_ways(problem, begin, end, tensors, limits);
}

}  // namespace sluice::oracle
