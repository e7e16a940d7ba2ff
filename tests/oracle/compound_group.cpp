#include "oracle/compound_group.h"

#include <algorithm>
#include <numeric>

#include "oracle/compound_frame.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

bool stands_in(EinsumId einsum, std::size_t begin, std::size_t end) {
  return begin <= einsum.index() && einsum.index() < end;
}

void add_once(std::vector<TensorId>& tensors, TensorId tensor) {
  if (!contains(tensors, tensor)) tensors.push_back(tensor);
}

/// Representatives of the classes: two variables that index one rank of one tensor have the same.
std::vector<std::size_t> representatives(const Workload& workload, std::size_t begin,
                                         std::size_t end) {
  std::vector<std::size_t> same(workload.rank_variables.size());
  std::iota(same.begin(), same.end(), 0);
  const auto join = [&](RankVariableId a, RankVariableId b) {
    const std::size_t from = same[a.index()], to = same[b.index()];
    std::replace(same.begin(), same.end(), from, to);
  };
  for (std::size_t e = begin; e < end; ++e)
    for (std::size_t f = begin; f < end; ++f)
      for (const TensorAccess& a : workload.einsums[e].accesses)
        for (const TensorAccess& b : workload.einsums[f].accesses) {
          if (a.tensor != b.tensor) continue;
          for (std::size_t rank = 0; rank < a.projection.size(); ++rank)
            if (a.projection[rank].is_plain_variable() && b.projection[rank].is_plain_variable())
              join(a.projection[rank].terms[0].variable, b.projection[rank].terms[0].variable);
        }
  return same;
}

}  // namespace

GroupTensors tensors_of_group(const BoundProblem& problem, std::size_t begin, std::size_t end) {
  GroupTensors tensors;
  for (std::size_t e = begin; e < end; ++e)
    for (TensorId tensor : problem[EinsumId(e)].tensors) {
      const auto& producer = problem.roles.producer[tensor.index()];
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
  const std::vector<std::size_t> same = representatives(workload, begin, end);
  std::vector<VariableClass> classes;
  for (std::size_t representative = 0; representative < same.size(); ++representative) {
    VariableClass one;
    for (std::size_t v = 0; v < same.size(); ++v) {
      const RankVariableId variable(v);
      const bool used =
          std::any_of(workload.einsums.begin() + static_cast<std::ptrdiff_t>(begin),
                      workload.einsums.begin() + static_cast<std::ptrdiff_t>(end),
                      [&](const Einsum& einsum) { return uses_variable(einsum, variable); });
      if (used && same[v] == representative) one.variables.push_back(variable);
    }
    if (one.variables.empty()) continue;
    for (std::size_t e = begin; e < end; ++e)
      one.usable &=
          std::count_if(one.variables.begin(), one.variables.end(), [&](RankVariableId variable) {
            return uses_variable(workload.einsums[e], variable);
          }) <= 1;
    classes.push_back(one);
  }
  return classes;
}

std::vector<NodeList> ways_of_group(const BoundProblem& problem, std::size_t begin, std::size_t end,
                                    std::int64_t most) {
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
                       most);
  }
  return framed_ways(problem, begin, end, tensors, most);
}

}  // namespace sluice::oracle
