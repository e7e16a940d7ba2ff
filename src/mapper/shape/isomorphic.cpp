#include "isomorphic.h"

#include <algorithm>

namespace sluice::fused {

bool same_problem(const BoundProblem& problem, const EinsumShape& a, const EinsumShape& b) {
  if (a.sizes != b.sizes || a.coupled != b.coupled || a.group != b.group ||
      a.carried != b.carried || !(a.recurrence == b.recurrence) || a.is_copy != b.is_copy ||
      a.multiplicity != b.multiplicity || a.row_loops != b.row_loops ||
      a.tensors.size() != b.tensors.size())
    return false;
  for (std::size_t t = 0; t < a.tensors.size(); ++t) {
    const LocalTensor &x = a.tensors[t], &y = b.tensors[t];
    if (x.relevance != y.relevance || x.held != y.held || x.stepped != y.stepped ||
        x.parted != y.parted || x.is_input != y.is_input || x.is_output != y.is_output ||
        x.shared != y.shared || x.intermediate != y.intermediate || x.persistent != y.persistent ||
        x.copy_of != y.copy_of || x.relatives != y.relatives || x.instances != y.instances ||
        x.other_holders != y.other_holders || x.kept_copies != y.kept_copies)
      return false;
  }
  const BoundEinsum &x = problem[a.einsum], &y = problem[b.einsum];
  const auto same_access = [](const BoundAccess& p, const BoundAccess& q) {
    if (p.tensor != q.tensor || p.is_output != q.is_output || p.relevance != q.relevance ||
        p.index.size() != q.index.size())
      return false;
    for (std::size_t r = 0; r < p.index.size(); ++r) {
      if (p.index[r].slack != q.index[r].slack || p.index[r].others != q.index[r].others ||
          p.index[r].whole != q.index[r].whole ||
          p.index[r].terms.size() != q.index[r].terms.size())
        return false;
      for (std::size_t i = 0; i < p.index[r].terms.size(); ++i)
        if (p.index[r].terms[i].variable != q.index[r].terms[i].variable ||
            p.index[r].terms[i].coefficient != q.index[r].terms[i].coefficient)
          return false;
    }
    return true;
  };
  if (!std::equal(x.accesses.begin(), x.accesses.end(), y.accesses.begin(), y.accesses.end(),
                  same_access) ||
      !std::equal(x.held.begin(), x.held.end(), y.held.begin(), y.held.end(), same_access))
    return false;
  for (std::size_t c = 0; c < x.components.size(); ++c) {
    const BoundComponent &p = x.components[c], &q = y.components[c];
    if (p.enabled != q.enabled || p.size_bits != q.size_bits ||
        p.bits_per_value != q.bits_per_value || p.latency_rows != q.latency_rows ||
        p.spatial.size() != q.spatial.size())
      return false;
    for (std::size_t d = 0; d < p.spatial.size(); ++d)
      if (p.spatial[d].fanout != q.spatial[d].fanout ||
          p.spatial[d].may_reuse != q.spatial[d].may_reuse ||
          p.spatial[d].reuse != q.spatial[d].reuse ||
          p.spatial[d].min_usage != q.spatial[d].min_usage)
        return false;
  }
  if (x.computes.size() != y.computes.size()) return false;
  for (std::size_t c = 0; c < x.computes.size(); ++c)
    if (x.computes[c].component != y.computes[c].component ||
        x.computes[c].calls_per_point != y.computes[c].calls_per_point ||
        x.computes[c].cuts != y.computes[c].cuts)
      return false;
  return true;
}

}  // namespace sluice::fused
