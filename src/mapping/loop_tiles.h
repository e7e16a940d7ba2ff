#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice {

/// A loop as its Einsums meet it. `variables`: the names under which they know it; each takes the
/// first that it uses. `first_tile`: 0 where none is stated.
struct LoopShape {
  const std::vector<RankVariableId>& variables;
  std::int64_t tile_shape = 1;
  std::int64_t first_tile = 0;
};

/// Sizes of one variable's tiles at some place of a tree.
struct TileSizes {
  std::int64_t start = 1;  ///< of the largest one that starts a sweep over all loops outside
  std::int64_t later = 0;  ///< of the largest of the others; 0 where there is none

  std::int64_t largest() const { return std::max(start, later); }
  /// Goes below a loop with tiles of `tile`, the first of them `first` (0: like the others) in
  /// every run of the loop or, if it `sweeps`, only in one that starts a sweep. Returns the steps
  /// of the longest run.
  std::int64_t enter(std::int64_t tile, std::int64_t first, bool sweeps);
};

/// The tiles of every variable of every Einsum on the way down a tree, to tell which loops
/// take one step: they are no loops (model.md, "From the tree to one nest per Einsum"). Copy it to
/// come back to a place.
class LoopTiles {
 public:
  explicit LoopTiles(const Workload& workload);

  /// Goes below a loop. `below`: the Einsums there, in order of execution. True if the loop takes
  /// one step for each of them. A loop that none of them uses has the steps of its variables' whole
  /// ranges. Where one of them reads windows of what another makes (`s*q+r`), the maker's steps are
  /// the reader's, and its tile the rows that the reader needs first; so for who makes what that
  /// one reads value by value.
  bool enter(const LoopShape& loop, std::span<const EinsumId> below);

  /// The tiles of these Einsums, to come back to a place: loops change those of Einsums below
  /// alone.
  std::vector<TileSizes> saved(std::span<const EinsumId> einsums) const;
  void restore(std::span<const EinsumId> einsums, const std::vector<TileSizes>& saved);

  /// Steps of the loop entered last, of the Einsum that takes most.
  std::int64_t steps() const;
  /// The tiles of a variable, by its place in an Einsum's iteration space.
  const TileSizes& tiles(EinsumId einsum, std::size_t variable) const {
    return tiles_[begin_[einsum.index()] + variable];
  }

 private:
  struct Walker {
    EinsumId einsum;
    std::size_t variable = 0;  ///< place in its iteration space
    std::int64_t steps = 1;
    std::int64_t later = 1;  ///< its tile in later steps
    bool follows = false;    ///< its tiles follow from its readers'
  };

  TileSizes* tiles_of(EinsumId einsum) { return tiles_.data() + begin_[einsum.index()]; }
  bool unused_loop_has_one_step(const LoopShape& loop) const;
  bool follow_readers(Walker& maker);

  const Workload* workload_;
  std::vector<std::size_t> begin_;  ///< per Einsum: where its tiles start
  std::vector<TileSizes> tiles_;    ///< per Einsum and place in its iteration space
  std::vector<char> has_windows_;   ///< per Einsum: some reader may take rows, see above
  std::vector<Walker> walkers_;     ///< of the loop that is being entered, last Einsum first
  bool found_windows_ = false;      ///< in that loop
};

}  // namespace sluice
