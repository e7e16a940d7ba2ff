#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/bind/index_extent.h"
#include "model/tree/nest.h"

namespace sluice {

/// Indices of a tensor, rank by rank; empty where `low` exceeds `high` in one.
using IndexBox = std::vector<IndexRange>;

/// Values in both boxes.
std::int64_t common_values(const IndexBox& a, const IndexBox& b);

/// The maker or one reader of a forwarded tensor, with the node that holds it there.
class ForwardEnd {
 public:
  ForwardEnd(const BoundProblem& problem, const FlatTree& tree, const FlatForward& forward,
             const Nest& nest, const NestStorage& storage);

  const Nest& nest() const { return *nest_; }
  const NestStorage& storage() const { return *storage_; }
  /// Loops above the node: those above the split, and its own.
  const std::vector<const NestLoop*>& common_loops() const { return common_; }
  const std::vector<const NestLoop*>& own_loops() const { return own_; }
  const std::vector<const NestLoop*>& own_spatial_loops() const { return own_spatial_; }
  /// How this Einsum touches the tensor; null where it does so in several ways.
  const BoundAccess* access() const { return access_; }

  /// Indices of the node's tile where its own spatial loops stand at `steps` and all others at 0,
  /// within the tensor.
  IndexBox tile(const std::vector<std::int64_t>& steps) const;
  /// The same of all its instances together.
  IndexBox whole() const;
  /// The same where the loop `above` of those above the split stands at its first step (or its
  /// second one): all of that step and no more. Nothing where there is no such step.
  std::optional<IndexBox> whole_in_step(const Node* above, bool second) const;

 private:
  /// Of each variable of the Einsum.
  struct Extents {
    std::vector<std::int64_t> starts, sizes;
    struct Tile {
      std::int64_t offset = 0, size = 0;
    };
    Tile tile(std::size_t v) const { return {starts[v], sizes[v]}; }
  };
  IndexBox box(const Extents& extents) const;

  const BoundProblem& problem_;
  TensorId tensor_;
  const Nest* nest_;
  const NestStorage* storage_;
  const BoundAccess* access_ = nullptr;
  std::vector<const NestLoop*> common_, own_, own_spatial_;
  Extents tile_;  ///< where all loops stand at 0
};

/// Calls `visit(steps)` for every combination of the loops' steps, the last loop fastest.
template <class Visit>
void for_each_step(const std::vector<const NestLoop*>& loops, Visit visit) {
  std::vector<std::int64_t> steps(loops.size(), 0);
  for (;;) {
    visit(steps);
    std::size_t l = loops.size();
    while (l > 0 && ++steps[l - 1] == loops[l - 1]->trips) steps[--l] = 0;
    if (l == 0) return;
  }
}

}  // namespace sluice
