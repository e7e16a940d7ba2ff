#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ledger.h"
#include "program.h"
#include "referee/points/points.h"

namespace sluice::referee {

/// One instance of the machine on its way through the loops. All lanes take each step together.
struct Lane {
  std::map<EinsumId, Box> boxes;    ///< the tile of every Einsum that has work here
  std::vector<std::int64_t> turns;  ///< its share of each spatial loop above, outermost first
  std::vector<std::size_t> ids;     ///< ids[d]: number of the instance as seen by d spatial loops
  InstancePlace place;              ///< physical coordinates
  /// Per dimension (as in `place`) that a split above shares out: its child's instances.
  std::map<std::size_t, Range> regions;

  /// Where its instances of a dimension begin.
  std::int64_t origin(std::size_t dimension) const {
    const auto region = regions.find(dimension);
    return region == regions.end() ? 0 : region->second.begin;
  }
};

struct Cell {
  double value = 0;
  bool is_made = false;
  bool was_read = false;  ///< partial sums: its instance has read what was there before
};

/// The contents of one storage in one instance: exactly the points of its tile.
struct Buffer {
  Points points;
  std::optional<IndexBox> box;   ///< these points as index ranges, where that is known
  std::vector<Cell> cells;       ///< per point
  Points fetched;                ///< of what its Einsum reads: what must be fetched
  Points outputs;                ///< what its Einsum writes
  Points returning;              ///< of `outputs`: what comes back from the parent to be added to
  Points window;                 ///< sliding: what its Einsum read in the last step
  std::vector<IndexBox> ranges;  ///< incremental: what its Einsum read in the last visit
  std::size_t run = 0;           ///< sliding: run of the loop that it slides over
  bool is_open = false;
  bool is_filled = false;

  /// Null for a point that is not there.
  Cell* find(Element element);
  /// The same where points are looked for in ascending order; `next` begins as 0.
  Cell* find_next(Element element, std::size_t& next) {
    if (next >= points.size() || points[next] != element) {
      Cell* const cell = find(element);
      if (cell) next = static_cast<std::size_t>(cell - cells.data()) + 1;
      return cell;
    }
    return &cells[next++];
  }
  /// Replaces the points; those that stay keep their values.
  void move_to(Points points, std::optional<IndexBox> box = std::nullopt);
};

/// One instance at the lower end of a crossing.
struct Party {
  const Lane* lane = nullptr;
  Points points;
  std::vector<Cell> cells;  ///< values by point: received (fill) or sent (drain)
};

/// The buffers of the machine. A backing storage is everybody's; any other one "serves each child
/// Einsum on its own" (model.md) and has a buffer for each. Below the steps of a pipelined split
/// each step in flight has its own copy of a backing storage.
class BufferTable {
 public:
  Buffer& at(const StorageItem& storage, EinsumId einsum, std::size_t instance) {
    return buffers_[key(storage, einsum, instance)];
  }
  /// Null where the storage was never open there.
  Buffer* find(const StorageItem& storage, EinsumId einsum, std::size_t instance) {
    const auto buffer = buffers_.find(key(storage, einsum, instance));
    return buffer == buffers_.end() ? nullptr : &buffer->second;
  }
  /// From now on the storage is that of step number `step`.
  void select_step(const StorageItem& storage, std::size_t step) { steps_[storage.id] = step; }

 private:
  using Key = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  Key key(const StorageItem& storage, EinsumId einsum, std::size_t instance) const {
    const auto step = steps_.empty() ? steps_.end() : steps_.find(storage.id);
    return {storage.id, storage.is_backing ? 0 : einsum.index() + 1, instance,
            step == steps_.end() ? 0 : step->second};
  }
  std::map<Key, Buffer> buffers_;
  std::map<std::size_t, std::size_t> steps_;  ///< by storage
};

/// Numbers the instances: the same turns always get the same number.
class InstanceNumbers {
 public:
  std::size_t of(const std::vector<std::int64_t>& turns) {
    return numbers_.try_emplace(turns, numbers_.size()).first->second;
  }

 private:
  std::map<std::vector<std::int64_t>, std::size_t> numbers_;
};

}  // namespace sluice::referee
