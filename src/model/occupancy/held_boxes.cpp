#include "model/occupancy/held_boxes.h"

#include <algorithm>

#include "model/tree/finish_nests.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

std::int64_t step_of(const Moment& moment, std::uint32_t tree_loop) {
  for (const auto& [loop, step] : moment)
    if (loop == tree_loop) return step;
  return 0;
}

bool encloses(const IndexRange* outer, const IndexRange* inner, std::size_t n_ranks) {
  for (std::size_t r = 0; r < n_ranks; ++r)
    if (inner[r].low < outer[r].low || inner[r].high > outer[r].high) return false;
  return true;
}

std::int64_t box_volume(const IndexRange* box, std::size_t n_ranks) {
  std::int64_t product = 1;
  for (std::size_t r = 0; r < n_ranks; ++r)
    product = checked_multiply(product, box[r].high - box[r].low + 1);
  return product;
}

}  // namespace

HeldBoxes::HeldBoxes(const BoundProblem& problem, FlatTree& tree)
    : problem_(problem), tree_(tree), groups_of_(tree.entries.size()) {
  find_users();
  for (std::size_t n = 0; n < tree.nests.size(); ++n) {
    const Nest& nest = tree.nests[n];
    for (auto s = nest.storages_begin; s < reserved_end(problem, tree, nest); ++s)
      if (problem.arch[tree.storages[s].component].is_memory() &&
          !lies_beyond_copy(problem, tree, nest, tree.storages[s]))
        add(tree.storages[s].entry, {n, s});
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g)
    if (!groups_[g].moves) hold_group(g, {});
}

void HeldBoxes::find_users() {
  users_begin_.assign(tree_.tree_loops.size() + 1, 0);
  for (const NestLoop& loop : tree_.loops) ++users_begin_[loop.tree_loop + 1];
  for (std::size_t l = 0; l < tree_.tree_loops.size(); ++l) users_begin_[l + 1] += users_begin_[l];
  users_.resize(tree_.loops.size());
  std::vector<std::uint32_t> next(users_begin_.begin(), users_begin_.end() - 1);
  for (std::uint32_t n = 0; n < tree_.nests.size(); ++n)
    for (auto l = tree_.nests[n].loops_begin; l < tree_.nests[n].loops_end; ++l)
      users_[next[tree_.loops[l].tree_loop]++] = {n, l};
}

/// Backing nodes of one tensor in several branches are one, where the same loops stand above them.
void HeldBoxes::add(std::uint32_t entry, const Holder& holder) {
  const TreeEntry& mine = tree_.entries[entry];
  std::vector<std::uint32_t>& known = groups_of_[entry];
  auto group = static_cast<std::uint32_t>(groups_.size());
  if (!known.empty()) group = known.front();
  if (mine.backing && mine.sent_at < 0) {
    const SpreadKey key{mine.tensor.index(), mine.component.index(), loops_above(holder)};
    const auto spread = spread_group_.find(key);
    if (spread != spread_group_.end())
      group = std::min(group, spread->second);
    else if (known.empty())
      spread_group_.emplace(key, group);
  }
  if (group == groups_.size()) groups_.emplace_back();
  if (std::find(known.begin(), known.end(), group) == known.end()) {
    known.insert(std::lower_bound(known.begin(), known.end(), group), group);
    groups_[group].entries.push_back(entry);
  }
  groups_[group].holders.push_back(holder);
  groups_[group].moves |= moves(holder);
}

/// Those in which some Einsum takes several steps.
std::vector<std::uint32_t> HeldBoxes::loops_above(const Holder& holder) const {
  std::vector<std::uint32_t> loops;
  const Nest& nest = tree_.nests[holder.nest];
  for (int l = 0; l < tree_.storages[holder.storage].loops_above; ++l) {
    const std::uint32_t loop =
        tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)].tree_loop;
    if (tree_.tree_loops[loop].trips > 1) loops.push_back(loop);
  }
  return loops;
}

/// Whether a loop that several Einsums share stands above.
bool HeldBoxes::moves(const Holder& holder) const {
  const Nest& nest = tree_.nests[holder.nest];
  const auto* first = tree_.loops.data() + nest.loops_begin;
  return std::any_of(first, first + tree_.storages[holder.storage].loops_above,
                     [&](const NestLoop& loop) { return users_of(loop.tree_loop).size() > 1; });
}

void HeldBoxes::for_each_moment(std::size_t nest, std::span<const std::uint32_t> entries,
                                const std::function<void(const Moment&)>& visit) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t entry : entries)
    if (!is_constant(entry)) groups.push_back(groups_of_[entry].back());
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  Moment moment;
  walk(nest, tree_.nests[nest].loops_begin, moment, [&](const Moment& found) {
    for (std::uint32_t group : groups) hold_group(group, found);
    visit(found);
  });
}

void HeldBoxes::walk(std::size_t nest, std::uint32_t loop, Moment& moment,
                     const std::function<void(const Moment&)>& visit) {
  const Nest& mine = tree_.nests[nest];
  for (; loop < mine.loops_end; ++loop) {
    const std::uint32_t tree_loop = tree_.loops[loop].tree_loop;
    // Of a loop of its own, a nest's first tile is the largest.
    if (users_of(tree_loop).size() < 2) continue;
    for (std::int64_t step : steps_to_try(tree_loop, moment)) {
      moment.emplace_back(tree_loop, step);
      walk(nest, loop + 1, moment, visit);
      moment.pop_back();
    }
    return;
  }
  visit(moment);
}

/// The first step, the last one of each nest, and one of the others, which are all alike.
const std::vector<std::int64_t>& HeldBoxes::steps_to_try(std::uint32_t tree_loop,
                                                         const Moment& moment) {
  const auto [found, is_new] = steps_.try_emplace({tree_loop, moment});
  std::vector<std::int64_t>& steps = found->second;
  if (!is_new) return steps;
  steps = {0};
  for (const LoopUser& user : users_of(tree_loop)) {
    const NestLoop& loop = tree_.loops[user.loop];
    if (!find_tiles(tree_.nests[user.nest], user.loop, moment)) continue;
    const Tile& tile = tiles_[static_cast<std::size_t>(loop.variable)];
    const bool has_first = loop.first > 0 && (tile.starts_sweep || !loop.sweeps);
    const std::int64_t first = std::min(has_first ? loop.first : loop.tile, tile.size);
    const std::int64_t last = ceil_divide(tile.size - first, loop.tile);
    if (last > 0) steps.push_back(1);
    if (last > 1) steps.push_back(last);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// The tiles of a nest's variables below its loops up to `end`; false if it has nothing to do then.
bool HeldBoxes::find_tiles(const Nest& nest, std::uint32_t end, const Moment& moment) {
  tiles_.clear();
  for (const VariableRange& range : problem_.workload[nest.einsum].iteration_space)
    tiles_.push_back({range.minimum, range.size, true});
  for (auto l = nest.loops_begin; l < end; ++l) {
    const NestLoop& loop = tree_.loops[l];
    Tile& tile = tiles_[static_cast<std::size_t>(loop.variable)];
    const std::int64_t step = step_of(moment, loop.tree_loop);
    const bool has_first = loop.first > 0 && (tile.starts_sweep || !loop.sweeps);
    const std::int64_t first = has_first ? loop.first : loop.tile;
    const std::int64_t done = step == 0 ? 0 : first + (step - 1) * loop.tile;
    if (done >= tile.size) return false;
    tile.offset += done;
    tile.size = std::min(step == 0 ? first : loop.tile, tile.size - done);
    tile.starts_sweep = tile.starts_sweep && (!loop.sweeps || step == 0);
  }
  return true;
}

void HeldBoxes::add_boxes(const Holder& holder, const Moment& moment) {
  const Nest& nest = tree_.nests[holder.nest];
  const NestStorage& storage = tree_.storages[holder.storage];
  const auto end = nest.loops_begin + static_cast<std::uint32_t>(storage.loops_above);
  if (!find_tiles(nest, end, moment)) return;
  for (const BoundAccess& access : problem_[nest.einsum].accesses) {
    if (access.tensor != storage.tensor) continue;
    ++boxes_.n;
    boxes_.n_ranks = access.index.size();
    for (const BoundIndex& index : access.index)
      boxes_.ranges.push_back(
          range_of(index, [&](int v) { return tiles_[static_cast<std::size_t>(v)]; }));
  }
}

/// Values in at least one of the boxes.
std::int64_t HeldBoxes::volume(const Boxes& boxes) {
  if (boxes.n == 0) return 0;
  for (std::size_t outer = 0; outer < boxes.n; ++outer) {
    bool has_all = true;
    for (std::size_t inner = 0; has_all && inner < boxes.n; ++inner)
      has_all = encloses(boxes.box(outer), boxes.box(inner), boxes.n_ranks);
    if (has_all) return box_volume(boxes.box(outer), boxes.n_ranks);
  }
  return volume_of_parts(boxes);
}

/// Cell by cell between the places where some box begins or ends.
std::int64_t HeldBoxes::volume_of_parts(const Boxes& boxes) {
  const std::size_t n_ranks = boxes.n_ranks;
  std::vector<std::vector<std::int64_t>> cuts(n_ranks);
  for (std::size_t r = 0; r < n_ranks; ++r) {
    for (std::size_t b = 0; b < boxes.n; ++b)
      cuts[r].insert(cuts[r].end(), {boxes.box(b)[r].low, boxes.box(b)[r].high + 1});
    std::sort(cuts[r].begin(), cuts[r].end());
    cuts[r].erase(std::unique(cuts[r].begin(), cuts[r].end()), cuts[r].end());
  }
  std::int64_t sum = 0;
  std::vector<std::size_t> cell(n_ranks, 0);
  std::vector<IndexRange> part(n_ranks);
  for (std::size_t next = 0; next < n_ranks;) {
    for (std::size_t r = 0; r < n_ranks; ++r)
      part[r] = {cuts[r][cell[r]], cuts[r][cell[r] + 1] - 1};
    bool is_held = false;
    for (std::size_t b = 0; !is_held && b < boxes.n; ++b)
      is_held = encloses(boxes.box(b), part.data(), n_ranks);
    if (is_held) sum = checked_add(sum, box_volume(part.data(), n_ranks));
    for (next = 0; next < n_ranks; ++next) {
      if (++cell[next] + 1 < cuts[next].size()) break;
      cell[next] = 0;
    }
  }
  return sum;
}

void HeldBoxes::hold(const Moment& moment) {
  for (std::uint32_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].moves) hold_group(g, moment);
}

void HeldBoxes::hold_group(std::uint32_t group, const Moment& moment) {
  boxes_.ranges.clear();
  boxes_.n = 0;
  double bits_per_value = 0;
  for (const Holder& holder : groups_[group].holders) {
    const std::size_t before = boxes_.n;
    add_boxes(holder, moment);
    const NestStorage& storage = tree_.storages[holder.storage];
    const BoundEinsum& einsum = problem_[tree_.nests[holder.nest].einsum];
    if (boxes_.n > before)  // peers hold a share each
      bits_per_value = std::max(bits_per_value,
                                einsum.components[storage.component.index()]
                                        .bits_per_value[static_cast<std::size_t>(storage.tensor)] /
                                    static_cast<double>(storage.shares));
  }
  const double bits = static_cast<double>(volume(boxes_)) * bits_per_value;
  for (std::uint32_t entry : groups_[group].entries)
    if (groups_of_[entry].back() == group) tree_.entries[entry].bits = bits;
}

}  // namespace sluice
