#include "model/tree/finish_nests.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "mapping/loop_tiles.h"
#include "model/bind/index_extent.h"
#include "model/tree/lookups.h"
#include "model/tree/resident.h"
#include "model/tree/shares.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

class NestFinisher {
 public:
  NestFinisher(const BoundProblem& problem, FlatTree& tree, ViolationReport& report)
      : problem_(problem), tree_(tree), report_(report) {}

  void finish(Nest& nest) {
    const Einsum& einsum = problem_.workload[nest.einsum];
    tiles_.clear();
    sizes_.clear();
    for (const VariableRange& range : einsum.iteration_space) {
      tiles_.push_back(range.size);
      sizes_.push_back({range.size, 0});
    }
    int n_loops = 0;
    auto storage = nest.storages_begin;
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l, ++n_loops) {
      for (; storage < nest.storages_end && tree_.storages[storage].loops_above == n_loops;
           ++storage)
        note_tiles(storage);
      enter(tree_.loops[l], nest, einsum);
    }
    for (; storage < nest.storages_end; ++storage) note_tiles(storage);
    const std::uint32_t end = reserved_end(problem_, tree_, nest);
    for (auto s = nest.storages_begin; s < end; ++s) {
      if (tree_.storages[s].slides_over >= 0) nest.perfect = false;
      if (!lies_beyond_copy(problem_, tree_, nest, tree_.storages[s]))
        reserve(nest, tree_.storages[s]);
    }
    if (einsum.is_copy_operation) return;
    for (std::size_t v = 0; v < tiles_.size(); ++v) {
      if (tiles_[v] == 1) continue;
      report_.add(ViolationKind::kCoverage, nest.node,
                  "The loops of the Einsum " + einsum.name + " leave a tile of " +
                      with_thousands(static_cast<double>(tiles_[v])) + " in " +
                      report_.name(einsum.iteration_space[v].variable) +
                      " at the compute; it must be 1.",
                  nest.einsum);
    }
  }

  /// Once all nests are finished: a loop has steps if some Einsum below takes several.
  void double_buffers() {
    for (const NestLoop& loop : tree_.loops) {
      TreeLoop& shared = tree_.tree_loops[loop.tree_loop];
      shared.trips = std::max(shared.trips, loop.trips);
    }
    for (const BelowLoop& below : below_)
      if (tree_.tree_loops[below.loop].trips > 1) tree_.entries[below.entry].doubled = true;
  }

  /// A pipelined split's steps in flight have a tile each of what stands below their loops, from
  /// the first child that uses it to the last.
  void copies() {
    for (ConcurrentSplit& split : tree_.concurrent) {
      std::int64_t& steps = split.n_steps;
      for (const Node* node : split.steps) {
        std::int64_t trips = 1;
        for (int place = split.begin; place < split.end; ++place) {
          const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
          if (const NestLoop* loop = loop_at_node(tree_, nest, node))
            trips = std::max(trips, loop->trips);
        }
        steps = checked_multiply(steps, trips);
      }
      for (std::uint32_t held : split.held) {
        TreeEntry& entry = tree_.entries[held];
        if (entry.last_user < 0 || std::get<StorageNode>(entry.node->kind).persistent) continue;
        const int first = split.stage_of(std::max(entry.first_user, split.begin));
        const int last = split.stage_of(std::min(entry.last_user, split.end - 1));
        entry.copies = static_cast<int>(std::min<std::int64_t>(last - first + 1, steps));
      }
    }
  }

  /// A reader of a forwarded tensor has a tile for each step in flight since its maker's.
  void forwarded_copies() {
    for (const FlatForward& forward : tree_.forwards) {
      const ConcurrentSplit& split = tree_.concurrent[forward.split];
      if (forward.maker < 0 || !split.has(forward.maker)) continue;
      const int made = split.stage_of(forward.maker);
      for (int reader : forward.readers) {
        if (!split.has(reader)) continue;
        const Nest& nest = tree_.nests[static_cast<std::size_t>(reader)];
        for (auto s = nest.storages_begin; s < nest.storages_end; ++s)
          if (TreeEntry& entry = tree_.entries[tree_.storages[s].entry];
              entry.tensor == forward.tensor && entry.forwarded)
            entry.copies = static_cast<int>(
                std::min<std::int64_t>(split.stage_of(reader) - made + 1, split.n_steps));
      }
    }
  }

 private:
  void note_tiles(std::uint32_t storage) {
    tree_.storages[storage].tiles = static_cast<std::uint32_t>(tree_.tile_sizes.size());
    tree_.tile_sizes.insert(tree_.tile_sizes.end(), tiles_.begin(), tiles_.end());
  }

  void enter(NestLoop& loop, Nest& nest, const Einsum& einsum) {
    const auto v = static_cast<std::size_t>(loop.variable);
    std::int64_t& current = tiles_[v];
    loop.enclosing = current;
    const std::int64_t largest = std::max(loop.tile, loop.first);
    if (!loop.sweeps && (loop.tile < 1 || loop.first < 0 || largest > current)) {
      report_.add(ViolationKind::kIndivisibleLoop, loop.node,
                  "A loop over " + report_.name(einsum.iteration_space[v].variable) +
                      " of the Einsum " + einsum.name + " has tiles of " +
                      with_thousands(static_cast<double>(largest)) + "; the enclosing tile has " +
                      with_thousands(static_cast<double>(current)) + ".",
                  nest.einsum);
    }
    loop.tile = std::clamp<std::int64_t>(loop.tile, 1, current);
    loop.first = std::clamp<std::int64_t>(loop.first, 0, current);
    loop.trips = sizes_[v].enter(loop.tile, loop.first, loop.sweeps);
    if (loop.trips == 1) {  // all of it is the first
      loop.tile = current;
      loop.first = 0;
      loop.sweeps = false;
    }
    if (loop.first > 0 || loop.trips * loop.tile != current) nest.perfect = false;
    current = sizes_[v].largest();
  }

  void reserve(const Nest& nest, const NestStorage& storage) {
    TreeEntry& entry = tree_.entries[storage.entry];
    const BoundEinsum& einsum = problem_[nest.einsum];
    const Memory* memory = std::get_if<Memory>(&problem_.arch[storage.component].kind);
    if (!memory) return;
    std::int64_t volume = 0;
    for (const BoundAccess& access : einsum.held)
      if (access.tensor == storage.tensor)
        volume = checked_add(volume, entry.backing && !entry.forwarded
                                         ? backing_volume(access, tree_.tiles_at(storage))
                                         : tile_volume(access, tree_.tiles_at(storage)));
    const double bits =
        static_cast<double>(volume) * einsum.components[storage.component.index()]
                                          .bits_per_value[static_cast<std::size_t>(storage.tensor)];
    entry.bits = std::max(entry.bits, bits);
    if (memory->buffering == Buffering::kSingle) return;
    const StorageNode& node = std::get<StorageNode>(entry.node->kind);
    if (node.persistent || node.resident) return;
    if (entry.backing && problem_.workload[entry.tensor].persistent) return;
    for (int l = 0; l < storage.loops_above; ++l) {
      const NestLoop& loop = tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
      if (!loop.spatial && !entry.doubled) below_.push_back({storage.entry, loop.tree_loop});
    }
  }

  /// An entry of a double-buffered memory below a temporal loop.
  struct BelowLoop {
    std::uint32_t entry = 0;
    std::uint32_t loop = 0;  ///< index into FlatTree::tree_loops
  };

  const BoundProblem& problem_;
  FlatTree& tree_;
  ViolationReport& report_;
  std::vector<BelowLoop> below_;
  std::vector<std::int64_t> tiles_;  ///< the largest of each variable
  std::vector<TileSizes> sizes_;
};

}  // namespace

std::uint32_t reserved_end(const BoundProblem& problem, const FlatTree& tree, const Nest& nest) {
  auto end = nest.storages_end;
  if (!problem.workload[nest.einsum].is_copy_operation) return end;
  while (end > nest.storages_begin && !tree.entries[tree.storages[end - 1].entry].backing) --end;
  return end;
}

bool lies_beyond_copy(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                      const NestStorage& storage) {
  if (!problem.workload[nest.einsum].is_copy_operation || !nest.compute) return false;
  const auto depth = [&](const NestStorage& s) { return nest.compute->depth[s.component.index()]; };
  int deepest = -1;
  for (auto s = nest.storages_begin; s < nest.storages_end; ++s)
    if (tree.entries[tree.storages[s].entry].backing)
      deepest = std::max(deepest, depth(tree.storages[s]));
  return depth(storage) > deepest;
}

std::int64_t tile_extent(const BoundIndex& index, const std::int64_t* tiles) {
  return extent_of(index, [tiles](int v) { return tiles[v]; });
}

std::int64_t tile_volume(const BoundAccess& access, const std::int64_t* tiles) {
  std::int64_t volume = 1;
  for (const BoundIndex& index : access.index)
    volume = checked_multiply(volume, tile_extent(index, tiles));
  return volume;
}

std::int64_t backing_volume(const BoundAccess& access, const std::int64_t* tiles) {
  std::int64_t volume = 1;
  for (const BoundIndex& index : access.index) {
    volume = checked_multiply(volume, backing_extent(index, tile_extent(index, tiles)));
  }
  return volume;
}

void finish_nests(const BoundProblem& problem, FlatTree& tree, ViolationReport& report) {
  NestFinisher finisher(problem, tree, report);
  std::size_t n_tile_sizes = 0;
  for (const Nest& nest : tree.nests)
    n_tile_sizes += (nest.storages_end - nest.storages_begin) *
                    problem.workload[nest.einsum].iteration_space.size();
  tree.tile_sizes.reserve(n_tile_sizes);
  for (Nest& nest : tree.nests) finisher.finish(nest);
  finisher.double_buffers();
  finisher.copies();
  finisher.forwarded_copies();
  find_residents(tree);
  find_shares(problem, tree);
}

}  // namespace sluice
