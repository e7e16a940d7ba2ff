#include "model/bind/bound_access.h"

#include <algorithm>
#include <cstdlib>

namespace sluice {
namespace {

BoundIndex bind_index(const AffineExpression& expression, const LocalIndices& local_variable) {
  BoundIndex index;
  index.constant = expression.constant;
  for (const AffineTerm& term : expression.terms)
    index.terms.push_back({local_variable[term.variable.index()], term.coefficient});
  return index;
}

bool same_terms(const BoundAccess& a, const BoundAccess& b) {
  for (std::size_t r = 0; r < a.index.size(); ++r) {
    const auto& left = a.index[r].terms;
    const auto& right = b.index[r].terms;
    const auto equal = [](BoundTerm x, BoundTerm y) {
      return x.variable == y.variable && x.coefficient == y.coefficient;
    };
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(), equal)) return false;
  }
  return true;
}

/// Widens `into` so that it covers the range of `other` too; both have the same terms.
void merge_constants(BoundAccess& into, const BoundAccess& other) {
  for (std::size_t r = 0; r < into.index.size(); ++r) {
    BoundIndex& index = into.index[r];
    const std::int64_t low = std::min(index.constant, other.index[r].constant);
    const std::int64_t high =
        std::max(index.constant + index.slack, other.index[r].constant + other.index[r].slack);
    index.constant = low;
    index.slack = high - low;
  }
}

/// Adds an access to a list, merging it with one of the same tensor (and role) where terms agree.
void add_access(std::vector<BoundAccess>& list, const BoundAccess& access, bool same_role_only) {
  for (BoundAccess& known : list) {
    if (known.tensor != access.tensor || !same_terms(known, access)) continue;
    if (same_role_only && known.is_output != access.is_output) continue;
    merge_constants(known, access);
    known.leaves_ranks |= access.leaves_ranks;
    return;
  }
  list.push_back(access);
}

bool leaves_ranks(const Workload& workload, const Einsum& einsum, const TensorAccess& access) {
  for (std::size_t r = 0; r < access.projection.size(); ++r) {
    const auto [low, high] = touched_range(einsum, access.projection[r]);
    const Tensor& tensor = workload[access.tensor];
    if (low < 0 || high >= workload[tensor.ranks[r]].size) return true;
  }
  return false;
}

Relevance stronger(Relevance a, Relevance b) {
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

}  // namespace

void bind_accesses(const Workload& workload, EinsumId id, BoundEinsum* bound) {
  const Einsum& einsum = workload[id];
  bound->einsum = id;
  bound->tensors = tensors_of(einsum);
  for (TensorId tensor : bound->tensors) bound->local_tensor.push_back(tensor.index());
  const std::size_t n_variables = einsum.iteration_space.size();
  for (const VariableRange& range : einsum.iteration_space)
    bound->local_variable.push_back(range.variable.index());

  bound->relevance.assign(bound->tensors.size(),
                          std::vector<Relevance>(n_variables, Relevance::kIrrelevant));
  for (const TensorAccess& access : einsum.accesses) {
    BoundAccess item;
    item.tensor = bound->local_tensor[access.tensor.index()];
    item.is_output = access.is_output;
    item.leaves_ranks = leaves_ranks(workload, einsum, access);
    for (const AffineExpression& index : access.projection)
      item.index.push_back(bind_index(index, bound->local_variable));
    std::vector<Relevance>& strongest = bound->relevance[static_cast<std::size_t>(item.tensor)];
    for (std::size_t v = 0; v < n_variables; ++v) {
      item.relevance.push_back(relevance(access, einsum.iteration_space[v].variable));
      strongest[v] = stronger(strongest[v], item.relevance[v]);
    }
    const TensorMask bit = TensorMask{1} << item.tensor;
    (access.is_output ? bound->output : bound->inputs) |= bit;
    add_access(bound->accesses, item, true);
    add_access(bound->held, item, false);
  }
  for (TensorId tensor : bound->tensors) {
    bound->held_relevance.emplace_back();
    for (const VariableRange& range : einsum.iteration_space)
      bound->held_relevance.back().push_back(held_relevance(einsum, tensor, range.variable));
  }
}

namespace {

/// Smallest and largest of some indices of a rank.
struct TouchedIndices {
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  void include(std::int64_t from, std::int64_t to) {
    low = std::min(low, from);
    high = std::max(high, to);
  }
};

/// What all Einsums touch of one rank of a tensor.
struct TouchedRank {
  TouchedIndices slices;  ///< in a step 0, by Einsums that walk the rank one by one
  TouchedIndices whole;   ///< in their whole ranges
};

/// Per tensor and rank.
std::vector<std::vector<TouchedRank>> touched_ranks(const Workload& workload) {
  std::vector<std::vector<TouchedRank>> touched;
  touched.reserve(workload.tensors.size());
  for (const Tensor& tensor : workload.tensors) touched.emplace_back(tensor.ranks.size());
  for (const Einsum& einsum : workload.einsums)
    for (const TensorAccess& access : einsum.accesses)
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        const AffineExpression& index = access.projection[r];
        TouchedRank& rank = touched[access.tensor.index()][r];
        if (index.goes_one_by_one()) rank.slices.include(index.constant, index.constant);
        const auto [low, high] = touched_range(einsum, index);
        rank.whole.include(low, high);
      }
  return touched;
}

}  // namespace

std::int64_t backing_extent(const BoundIndex& index, std::int64_t extent) {
  if (index.others <= 0) return extent;
  return std::max(extent, std::min(extent + index.others, index.rank_size));
}

void widen_backings(const Workload& workload, std::vector<BoundEinsum>* einsums) {
  const std::vector<std::vector<TouchedRank>> touched = touched_ranks(workload);
  for (BoundEinsum& einsum : *einsums) {
    for (BoundAccess& held : einsum.held) {
      const TensorId tensor = einsum.tensors[static_cast<std::size_t>(held.tensor)];
      for (std::size_t r = 0; r < held.index.size(); ++r) {
        BoundIndex& index = held.index[r];
        index.rank_size = workload[workload[tensor].ranks[r]].size;
        const TouchedRank& rank = touched[tensor.index()][r];
        if (index.terms.size() == 1 && index.terms[0].coefficient == 1)
          index.others = rank.slices.high - rank.slices.low - index.slack;
        index.whole = index.terms.empty() ? 1 + index.slack : rank.whole.high - rank.whole.low + 1;
      }
    }
  }
}

}  // namespace sluice
