#include "model/tree/forward_ends.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice {

std::int64_t common_values(const IndexBox& a, const IndexBox& b) {
  std::int64_t values = 1;
  for (std::size_t r = 0; r < a.size(); ++r) {
    const std::int64_t extent = std::min(a[r].high, b[r].high) - std::max(a[r].low, b[r].low) + 1;
    if (extent <= 0) return 0;
    values = checked_multiply(values, extent);
  }
  return values;
}

ForwardEnd::ForwardEnd(const BoundProblem& problem, const FlatTree& tree,
                       const FlatForward& forward, const Nest& nest, const NestStorage& storage)
    : problem_(problem), tensor_(forward.tensor), nest_(&nest), storage_(&storage) {
  const std::vector<const Node*>& above = tree.concurrent[forward.split].loops_above;
  for (int l = 0; l < storage.loops_above; ++l) {
    const NestLoop& loop = tree.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
    if (loop.trips == 1) continue;
    const bool common = std::find(above.begin(), above.end(), loop.node) != above.end();
    (common ? common_ : own_).push_back(&loop);
    if (!common && loop.spatial) own_spatial_.push_back(&loop);
  }
  const auto& space = problem.workload[nest.einsum].iteration_space;
  for (std::size_t v = 0; v < space.size(); ++v) {
    tile_.starts.push_back(space[v].minimum);
    tile_.sizes.push_back(tree.tiles_at(storage)[v]);
  }
  int found = 0;
  for (const BoundAccess& access : problem[nest.einsum].accesses) {
    if (access.tensor != storage.tensor) continue;
    access_ = ++found == 1 ? &access : nullptr;
  }
}

IndexBox ForwardEnd::tile(const std::vector<std::int64_t>& steps) const {
  Extents extents = tile_;
  for (std::size_t l = 0; l < own_spatial_.size(); ++l)
    extents.starts[static_cast<std::size_t>(own_spatial_[l]->variable)] +=
        steps[l] * own_spatial_[l]->tile;
  return box(extents);
}

IndexBox ForwardEnd::whole() const {
  Extents extents = tile_;
  for (const NestLoop* loop : own_) {
    std::int64_t& size = extents.sizes[static_cast<std::size_t>(loop->variable)];
    size = checked_multiply(size, loop->trips);
  }
  return box(extents);
}

std::optional<IndexBox> ForwardEnd::whole_in_step(const Node* above, bool second) const {
  Extents extents = tile_;
  for (auto own = own_.rbegin(); own != own_.rend(); ++own)
    extents.sizes[static_cast<std::size_t>((*own)->variable)] = (*own)->enclosing;
  for (const NestLoop* loop : common_) {
    const auto v = static_cast<std::size_t>(loop->variable);
    const std::int64_t first = std::max(loop->first, loop->tile);
    const bool moves = second && loop->node == above;
    if (moves) extents.starts[v] += first;
    extents.sizes[v] = moves ? loop->tile : first;
  }
  const auto& space = problem_.workload[nest_->einsum].iteration_space;
  for (std::size_t v = 0; v < space.size(); ++v) {
    const std::int64_t end = space[v].minimum + space[v].size;
    extents.sizes[v] = std::min(extents.sizes[v], end - extents.starts[v]);
    if (extents.sizes[v] <= 0) return std::nullopt;
  }
  return box(extents);
}

IndexBox ForwardEnd::box(const Extents& extents) const {
  IndexBox box;
  box.reserve(access_->index.size());
  for (std::size_t r = 0; r < access_->index.size(); ++r) {
    const IndexRange range = range_of(
        access_->index[r], [&](int v) { return extents.tile(static_cast<std::size_t>(v)); });
    const std::int64_t size = problem_.workload[problem_.workload[tensor_].ranks[r]].size;
    box.push_back({std::max<std::int64_t>(range.low, 0), std::min(range.high, size - 1)});
  }
  return box;
}

}  // namespace sluice
