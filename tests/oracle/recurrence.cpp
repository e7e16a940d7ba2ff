#include "oracle/recurrence.h"

#include <algorithm>
#include <set>

namespace sluice::oracle {
namespace {

/// The rank along which a read is behind what is written.
std::optional<std::size_t> step_rank(const TensorAccess& written, const TensorAccess& read) {
  for (std::size_t r = 0; r < read.projection.size(); ++r) {
    const AffineExpression& from = read.projection[r];
    const AffineExpression& to = written.projection[r];
    if (from.terms.size() == 1 && to.terms.size() == 1 && from.constant < to.constant) return r;
  }
  return std::nullopt;
}

/// A single step follows no other one.
bool takes_steps(const Einsum& reader, const AffineExpression& index) {
  return variable_size(reader, index.terms[0].variable) > 1;
}

}  // namespace

std::vector<Cycle> cycles_of(const Workload& workload) {
  std::vector<Cycle> cycles;
  for (std::size_t producer = 0; producer < workload.einsums.size(); ++producer) {
    const TensorAccess& written = workload.einsums[producer].output();
    for (std::size_t reader = 0; reader <= producer; ++reader)
      for (const TensorAccess& read : workload.einsums[reader].accesses) {
        if (read.is_output || read.tensor != written.tensor) continue;
        const auto rank = step_rank(written, read);
        if (rank && takes_steps(workload.einsums[reader], read.projection[*rank]))
          cycles.push_back({written.tensor, EinsumId(reader), EinsumId(producer), *rank});
      }
  }
  return cycles;
}

std::optional<RankVariableId> step_variable(const Workload& workload, EinsumId einsum) {
  for (const Cycle& cycle : cycles_of(workload)) {
    if (einsum != cycle.first && einsum != cycle.last) continue;
    for (const TensorAccess& access : workload[einsum].accesses)
      if (access.tensor == cycle.state) return access.projection[cycle.rank].terms[0].variable;
  }
  return std::nullopt;
}

bool in_one_cycle(const Workload& workload, std::size_t einsum, std::size_t next) {
  const std::vector<Cycle> cycles = cycles_of(workload);
  return std::any_of(cycles.begin(), cycles.end(), [&](const Cycle& cycle) {
    return cycle.first.index() <= einsum && next <= cycle.last.index();
  });
}

bool in_cycle(const Workload& workload, EinsumId einsum) {
  const std::size_t e = einsum.index();
  return (e > 0 && in_one_cycle(workload, e - 1, e)) || in_one_cycle(workload, e, e + 1);
}

Relevance strongest_relevance(const Einsum& einsum, TensorId tensor, RankVariableId variable) {
  Relevance strongest = Relevance::kIrrelevant;
  for (const TensorAccess& access : einsum.accesses)
    if (access.tensor == tensor) strongest = std::max(strongest, relevance(access, variable));
  return strongest;
}

bool is_exchanged(const TensorRoles& roles, TensorId tensor) {
  std::set<EinsumId> users(roles.makers[tensor.index()].begin(),
                           roles.makers[tensor.index()].end());
  users.insert(roles.consumers[tensor.index()].begin(), roles.consumers[tensor.index()].end());
  return users.size() >= 2;
}

}  // namespace sluice::oracle
