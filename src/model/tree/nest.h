#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice {

/// One loop above a compute, as its Einsum sees it.
struct NestLoop {
  int variable = 0;  ///< index into the Einsum's iteration space
  bool spatial = false;
  ComponentId component;        ///< spatial: whose fanout
  std::uint32_t dimension = 0;  ///< spatial: which dimension of it
  std::int64_t enclosing = 1;   ///< largest tile outside the loop
  std::int64_t tile = 1;        ///< tile inside
  std::int64_t first = 0;       ///< larger first tile; 0 without one
  bool sweeps = false;          ///< the first tile starts a sweep over the loops outside, too
  bool follows = false;         ///< its tiles are the rows that readers below it need
  std::int64_t trips = 1;       ///< of the largest enclosing tile
  const Node* node = nullptr;
  std::uint32_t tree_loop = 0;  ///< index into FlatTree::tree_loops
};

/// A loop of the tree: one for all Einsums below it.
struct TreeLoop {
  const Node* node = nullptr;
  std::int64_t trips = 1;  ///< of the Einsum that takes most; filled in by finish_nests
};

/// A storage node of one tensor on the way to a compute, at the place where it takes effect.
struct NestStorage {
  int tensor = 0;  ///< index into BoundEinsum::tensors
  ComponentId component;
  int loops_above = 0;       ///< number of the nest's loops above it
  int slides_over = -1;      ///< index of the loop whose new rows alone it refetches
  bool incremental = false;  ///< fetches only what its last tile did not hold
  /// Resident in a pipelined split: the loops [begin, end) are its steps, in which it is not filled
  /// again.
  int steps_begin = 0, steps_end = 0;
  /// Shared by so many peers, whose loops are these bits by number: each has a share of the tile.
  std::int64_t shares = 1;
  std::uint64_t peers = 0;
  std::uint32_t entry = 0;  ///< index into FlatTree::entries
  std::uint32_t tiles = 0;  ///< where its tile sizes start in FlatTree::tile_sizes
};

/// A storage node of one tensor in the tree: one reservation.
struct TreeEntry {
  TensorId tensor;
  ComponentId component;
  const Node* node = nullptr;
  bool backing = false;
  bool loop_below = false;  ///< a loop stands between it and the next split of its list
  int first_user = 0;       ///< places (in the order of computes) of the first and last Einsum
  int last_user = -1;       ///< that it serves
  double bits = 0;          ///< largest tile × bits per value; filled in by finish_nests
  bool doubled = false;     ///< double-buffered: reserves twice
  int concurrency = 0;      ///< pipelined and parallel splits above it
  int copies = 1;           ///< steps of a pipelined split that have a tile each at the same time
  int sent_at = -1;         ///< place of the collective that brings what it holds elsewhere
  int received_at = -1;     ///< place of the collective that brings it
  /// Incremental: the outermost loop of several steps above it, an index into FlatTree::tree_loops.
  std::optional<std::uint32_t> kept_during = std::nullopt;
  bool forwarded = false;  ///< each branch has its own
  /// Forwarded or resident: the computes of the pipeline's child in which it is there all the time.
  int stays_from = 0, stays_until = 0;
};

/// Everything on the way from the root to one compute.
struct Nest {
  EinsumId einsum;
  const BoundCompute* compute = nullptr;  ///< null where the compute does not accept the Einsum
  const Node* node = nullptr;             ///< the compute node
  std::uint32_t loops_begin = 0, loops_end = 0;
  std::uint32_t storages_begin = 0, storages_end = 0;
  std::uint32_t live_begin = 0, live_end = 0;  ///< range of FlatTree::live
  bool perfect = true;  ///< every tile divides the enclosing one, no first tiles, no sliding
};

/// A collective node: a child of a split.
struct FlatCollective {
  const CollectiveNode* collective = nullptr;
  const Node* node = nullptr;
  int place = 0;                         ///< computes before it
  int split_begin = 0, split_end = 0;    ///< computes of its split
  std::vector<const Node*> loops_above;  ///< outermost first
  /// From one layout to another: no node above the split holds the tensor, its maker and its
  /// readers have one each.
  bool moves = false;
  std::vector<const Node*> maker_loops;  ///< above what the maker holds: in place as loops_above
  struct Reader {
    int place = 0;
    int loops = 0;  ///< of the nest, above its node of the tensor
  };
  std::vector<Reader> readers;                 ///< of one that moves
  std::uint32_t live_begin = 0, live_end = 0;  ///< range of FlatTree::live
};

/// A pipelined or parallel split: its children work at the same time.
struct ConcurrentSplit {
  const SplitNode* split = nullptr;
  const Node* node = nullptr;
  int depth = 0;           ///< concurrent splits above it
  int begin = 0, end = 0;  ///< computes
  std::vector<int>
      stages;  ///< first compute of each child (a collective belongs to the one before)
  std::vector<const Node*> steps;         ///< pipelined: the temporal loops right above
  std::vector<std::uint32_t> held;        ///< entries between these loops and the split
  std::vector<const Node*> loops_above;   ///< all, outermost first
  std::vector<std::uint32_t> held_above;  ///< entries above, of tensors that it uses or forwards
  std::optional<ComponentId> divided;     ///< whose instances its children share out (`over`)
  std::int64_t n_steps = 1;               ///< pipelined: of the loops; with one, nothing overlaps

  /// The child of a compute.
  int stage_of(int place) const {
    return static_cast<int>(std::upper_bound(stages.begin(), stages.end(), place) -
                            stages.begin()) -
           1;
  }
  bool runs_side_by_side() const { return split->kind == SplitKind::kParallel || n_steps > 1; }
  bool has(int place) const { return begin <= place && place < end; }
  int stage_end(std::size_t stage) const {
    return stage + 1 < stages.size() ? stages[stage + 1] : end;
  }
};

/// A tensor that a pipelined split forwards from the instances of its maker to those of its
/// readers.
struct FlatForward {
  TensorId tensor;
  ComponentId memory;
  std::size_t split = 0;     ///< index into FlatTree::concurrent
  int maker = -1;            ///< place; -1 where none makes it
  std::vector<int> readers;  ///< places
};

/// The part of a spatial dimension that a child of a split has (`over`, `shares`).
struct Region {
  int begin = 0, end = 0;  ///< computes
  ComponentId component;
  std::uint32_t dimension = 0;
  std::int64_t first = 0;  ///< instance
  std::int64_t share = 1;
};

/// What is there as long as a child of a split runs.
inline void stay(const ConcurrentSplit& split, int place, TreeEntry& entry) {
  const auto stage = static_cast<std::size_t>(split.stage_of(place));
  entry.stays_from = split.stages[stage];
  entry.stays_until = split.stage_end(stage);
  entry.concurrency = split.depth + 1;
}

/// A mapping taken apart: nests of the computes in order of execution, and the reservations.
struct FlatTree {
  std::vector<Nest> nests;
  std::vector<NestLoop> loops;
  std::vector<TreeLoop> tree_loops;
  std::vector<NestStorage> storages;
  std::vector<TreeEntry> entries;
  std::vector<std::uint32_t> live;       ///< entries alive while a nest runs
  std::vector<std::int64_t> tile_sizes;  ///< per storage: the tile of each variable of its Einsum
  std::vector<FlatCollective> collectives;  ///< in order of execution
  std::vector<ConcurrentSplit> concurrent;  ///< outer ones before those inside
  std::vector<int> place_of;                ///< per EinsumId: index into nests, -1 if not mapped
  std::vector<FlatForward> forwards;
  /// Indices into collectives and forwards, by tensor; of one tensor, in their order.
  std::vector<std::uint32_t> collectives_by_tensor, forwards_by_tensor;
  std::vector<Region> regions;
  std::vector<std::vector<std::uint32_t>> regions_at;  ///< per place; empty without regions

  /// Largest tile of each variable at a storage.
  const std::int64_t* tiles_at(const NestStorage& storage) const {
    return tile_sizes.data() + storage.tiles;
  }

  /// The part of a dimension in which a compute's loops over it work: of regions in one another the
  /// innermost one; null where they have all.
  const Region* region_of(int place, ComponentId component, std::uint32_t dimension) const {
    if (regions_at.empty()) return nullptr;
    const Region* innermost = nullptr;
    for (std::uint32_t r : regions_at[static_cast<std::size_t>(place)])
      if (regions[r].component == component && regions[r].dimension == dimension)
        innermost = &regions[r];
    return innermost;
  }
  int place(const Nest& nest) const { return static_cast<int>(&nest - nests.data()); }

  /// Indices of the collectives on a tensor, in order of execution.
  std::span<const std::uint32_t> collectives_on(TensorId tensor) const {
    const auto [first, behind] = std::equal_range(
        collectives_by_tensor.begin(), collectives_by_tensor.end(), tensor, OfTensor{*this});
    return {first, behind};
  }

  /// The pipelined or parallel split whose first compute stands at `place`, below `depth` such
  /// splits; null where there is none.
  const ConcurrentSplit* concurrent_split_at(int place, int depth) const {
    auto split = std::lower_bound(
        concurrent.begin(), concurrent.end(), place,
        [](const ConcurrentSplit& candidate, int wanted) { return candidate.begin < wanted; });
    for (; split != concurrent.end() && split->begin == place; ++split)
      if (split->depth == depth && split->end > place) return &*split;
    return nullptr;
  }

 private:
  struct OfTensor {
    const FlatTree& tree;
    bool operator()(std::uint32_t index, TensorId tensor) const {
      return tree.collectives[index].collective->tensor < tensor;
    }
    bool operator()(TensorId tensor, std::uint32_t index) const {
      return tensor < tree.collectives[index].collective->tensor;
    }
  };
};

}  // namespace sluice
