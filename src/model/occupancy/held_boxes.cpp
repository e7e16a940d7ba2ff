#include "model/occupancy/held_boxes.h"

#include <algorithm>

#include "model/tree/finish_nests.h"
#include "model/tree/lookups.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

std::int64_t step_of(const Moment& moment, const Node* node) {
  for (const auto& [loop, step] : moment)
    if (loop == node) return step;
  return 0;
}

}  // namespace

HeldBoxes::HeldBoxes(const BoundProblem& problem, FlatTree& tree) : problem_(problem), tree_(tree) {
  for (std::size_t n = 0; n < tree.nests.size(); ++n) {
    const Nest& nest = tree.nests[n];
    for (auto s = nest.storages_begin; s < reserved_end(problem, tree, nest); ++s)
      if (problem.arch[tree.storages[s].component].is_memory() &&
          !lies_beyond_copy(problem, tree, nest, tree.storages[s]))
        add(tree.storages[s].entry, {n, s});
  }
}

/// Backing nodes of one tensor in several branches are one, where the same loops stand above them.
void HeldBoxes::add(std::uint32_t entry, const Holder& holder) {
  const TreeEntry& mine = tree_.entries[entry];
  const std::vector<const Node*> loops = loops_above(holder);
  for (Group& group : groups_) {
    const TreeEntry& theirs = tree_.entries[group.entries[0]];
    const bool same =
        std::find(group.entries.begin(), group.entries.end(), entry) != group.entries.end();
    const bool spread = mine.backing && theirs.backing && mine.tensor == theirs.tensor &&
                        mine.component == theirs.component && group.loops == loops &&
                        mine.sent_at < 0 && theirs.sent_at < 0;
    if (!same && !spread) continue;
    if (!same) group.entries.push_back(entry);
    group.holders.push_back(holder);
    return;
  }
  groups_.push_back({{entry}, loops, {holder}});
}

std::vector<const Node*> HeldBoxes::loops_above(const Holder& holder) const {
  std::vector<const Node*> nodes;
  const Nest& nest = tree_.nests[holder.nest];
  for (int l = 0; l < tree_.storages[holder.storage].loops_above; ++l) {
    const Node* node = tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)].node;
    const bool has_steps =
        std::any_of(tree_.nests.begin(), tree_.nests.end(), [&](const Nest& other) {
          const NestLoop* loop = loop_at_node(tree_, other, node);
          return loop && loop->trips > 1;
        });
    if (has_steps) nodes.push_back(node);
  }
  return nodes;
}

void HeldBoxes::for_each_moment(std::size_t nest, const std::function<void(const Moment&)>& visit) {
  Moment moment;
  walk(nest, tree_.nests[nest].loops_begin, moment, visit);
}

void HeldBoxes::walk(std::size_t nest, std::uint32_t loop, Moment& moment,
                     const std::function<void(const Moment&)>& visit) {
  const Nest& mine = tree_.nests[nest];
  for (; loop < mine.loops_end; ++loop) {
    const Node* node = tree_.loops[loop].node;
    const auto users = std::count_if(
        tree_.nests.begin(), tree_.nests.end(),
        [&](const Nest& other) { return loop_at_node(tree_, other, node) != nullptr; });
    if (users < 2) continue;  // of a loop of its own, a nest's first tile is the largest
    for (std::int64_t step : steps_to_try(node, moment)) {
      moment.emplace_back(node, step);
      walk(nest, loop + 1, moment, visit);
      moment.pop_back();
    }
    return;
  }
  hold(moment);
  visit(moment);
}

/// The first step, the last one of each nest, and one of the others, which are all alike.
std::vector<std::int64_t> HeldBoxes::steps_to_try(const Node* node, const Moment& moment) const {
  std::vector<std::int64_t> steps = {0};
  for (const Nest& nest : tree_.nests) {
    const NestLoop* loop = loop_at_node(tree_, nest, node);
    if (!loop) continue;
    const auto end = static_cast<std::uint32_t>(loop - tree_.loops.data());
    const std::vector<Tile> tiles = tiles_below(nest, end, moment);
    if (tiles.empty()) continue;
    const Tile& tile = tiles[static_cast<std::size_t>(loop->variable)];
    const bool has_first = loop->first > 0 && (tile.starts_sweep || !loop->sweeps);
    const std::int64_t first = std::min(has_first ? loop->first : loop->tile, tile.size);
    const std::int64_t last = ceil_divide(tile.size - first, loop->tile);
    if (last > 0) steps.push_back(1);
    if (last > 1) steps.push_back(last);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// The tiles of a nest's variables below its loops up to `end`; none if it has nothing to do then.
std::vector<HeldBoxes::Tile> HeldBoxes::tiles_below(const Nest& nest, std::uint32_t end,
                                                    const Moment& moment) const {
  std::vector<Tile> tiles;
  for (const VariableRange& range : problem_.workload[nest.einsum].iteration_space)
    tiles.push_back({range.minimum, range.size, true});
  for (auto l = nest.loops_begin; l < end; ++l) {
    const NestLoop& loop = tree_.loops[l];
    Tile& tile = tiles[static_cast<std::size_t>(loop.variable)];
    const std::int64_t step = step_of(moment, loop.node);
    const bool has_first = loop.first > 0 && (tile.starts_sweep || !loop.sweeps);
    const std::int64_t first = has_first ? loop.first : loop.tile;
    const std::int64_t done = step == 0 ? 0 : first + (step - 1) * loop.tile;
    if (done >= tile.size) return {};
    tile.offset += done;
    tile.size = std::min(step == 0 ? first : loop.tile, tile.size - done);
    tile.starts_sweep = tile.starts_sweep && (!loop.sweeps || step == 0);
  }
  return tiles;
}

void HeldBoxes::add_boxes(const Holder& holder, const Moment& moment,
                          std::vector<Box>& boxes) const {
  const Nest& nest = tree_.nests[holder.nest];
  const NestStorage& storage = tree_.storages[holder.storage];
  const std::vector<Tile> tiles =
      tiles_below(nest, nest.loops_begin + static_cast<std::uint32_t>(storage.loops_above), moment);
  if (tiles.empty() && nest.loops_end > nest.loops_begin && storage.loops_above > 0) return;
  for (const BoundAccess& access : problem_[nest.einsum].accesses) {
    if (access.tensor != storage.tensor) continue;
    Box& box = boxes.emplace_back();
    for (const BoundIndex& index : access.index)
      box.push_back(range_of(index, [&](int v) { return tiles[static_cast<std::size_t>(v)]; }));
  }
}

/// Values in at least one of the boxes.
std::int64_t HeldBoxes::volume(const std::vector<Box>& boxes) {
  if (boxes.empty()) return 0;
  const std::size_t n_ranks = boxes[0].size();
  const auto contains = [&](const Box& outer, const Box& inner) {
    for (std::size_t r = 0; r < n_ranks; ++r)
      if (inner[r].low < outer[r].low || inner[r].high > outer[r].high) return false;
    return true;
  };
  for (const Box& outer : boxes) {
    if (!std::all_of(boxes.begin(), boxes.end(),
                     [&](const Box& inner) { return contains(outer, inner); }))
      continue;
    std::int64_t product = 1;
    for (const IndexRange& range : outer)
      product = checked_multiply(product, range.high - range.low + 1);
    return product;
  }
  std::vector<std::vector<std::int64_t>> cuts(n_ranks);  // where some box begins or ends
  for (std::size_t r = 0; r < n_ranks; ++r) {
    for (const Box& box : boxes) cuts[r].insert(cuts[r].end(), {box[r].low, box[r].high + 1});
    std::sort(cuts[r].begin(), cuts[r].end());
    cuts[r].erase(std::unique(cuts[r].begin(), cuts[r].end()), cuts[r].end());
  }
  std::int64_t sum = 0;
  std::vector<std::size_t> cell(n_ranks, 0);
  for (std::size_t next = 0; next < n_ranks;) {
    Box part;
    std::int64_t product = 1;
    for (std::size_t r = 0; r < n_ranks; ++r) {
      part.push_back({cuts[r][cell[r]], cuts[r][cell[r] + 1] - 1});
      product = checked_multiply(product, part[r].high - part[r].low + 1);
    }
    if (std::any_of(boxes.begin(), boxes.end(),
                    [&](const Box& box) { return contains(box, part); }))
      sum = checked_add(sum, product);
    for (next = 0; next < n_ranks; ++next) {
      if (++cell[next] + 1 < cuts[next].size()) break;
      cell[next] = 0;
    }
  }
  return sum;
}

void HeldBoxes::hold(const Moment& moment) {
  std::vector<Box> boxes;
  for (const Group& group : groups_) {
    boxes.clear();
    double bits_per_value = 0;
    for (const Holder& holder : group.holders) {
      const std::size_t before = boxes.size();
      add_boxes(holder, moment, boxes);
      const NestStorage& storage = tree_.storages[holder.storage];
      const BoundEinsum& einsum = problem_[tree_.nests[holder.nest].einsum];
      if (boxes.size() > before)
        bits_per_value =
            std::max(bits_per_value, einsum.components[storage.component.index()]
                                         .bits_per_value[static_cast<std::size_t>(storage.tensor)]);
    }
    const double bits = static_cast<double>(volume(boxes)) * bits_per_value;
    for (std::uint32_t entry : group.entries) tree_.entries[entry].bits = bits;
  }
}

}  // namespace sluice
