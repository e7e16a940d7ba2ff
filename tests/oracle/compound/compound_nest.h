#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sluice/mapper/mapper.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::oracle {

/// Something of the compound space that is larger than the caller allows.
struct TooMany {};

/// How far the enumerator goes.
struct CompoundLimits {
  std::int64_t most = 0;              ///< mappings
  int fused_loops = kUnlimitedLoops;  ///< of a frame
  bool imperfect = false;  ///< outermost loops of an Einsum's own may have a smaller last tile
};

/// What is left of every variable of one Einsum for the loops further in, in the order of its
/// iteration space.
using LeftOver = std::vector<std::int64_t>;
LeftOver whole_ranges(const Einsum& einsum);

/// Divisors of `size` from 2 to `most`.
std::vector<std::int64_t> trips_of(std::int64_t size, std::int64_t most);

/// What a memory must and may keep of one Einsum, as tensors.
struct Keeping {
  std::vector<TensorId> must, may;  ///< disjoint
};
Keeping keeping(const BoundProblem& problem, EinsumId einsum, ComponentId memory);
bool may_hold(const Keeping& keeping, TensorId tensor);
bool contains(const std::vector<TensorId>& tensors, TensorId tensor);

/// Every subset of `tensors`, the order kept.
std::vector<std::vector<TensorId>> subsets_of(const std::vector<TensorId>& tensors);
/// `tensors` without `others`.
std::vector<TensorId> without(const std::vector<TensorId>& tensors,
                              const std::vector<TensorId>& others);

/// Appends a storage node, unless it would hold nothing: the tensors ascending, or in the order of
/// an Einsum's accesses (a node of several tensors is several nodes, one below the other).
void append_storage(NodeList& nodes, const std::vector<TensorId>& tensors, ComponentId memory);
void append_storage(NodeList& nodes, const std::vector<TensorId>& tensors, ComponentId memory,
                    const BoundEinsum& einsum);

/// Where a component stands on a compute's path (BoundCompute::path).
std::optional<std::size_t> place_on(const BoundCompute& compute, ComponentId component);

/// Every nest of an Einsum below `memory` (which is not written), on every compute that has that
/// memory on its path: each follows `first` and walks what is `left`. Throws TooMany beyond
/// `limits`.
std::vector<NodeList> nests_below(const BoundProblem& problem, EinsumId einsum, ComponentId memory,
                                  const LeftOver& left, const NodeList& first,
                                  const CompoundLimits& limits);

}  // namespace sluice::oracle
