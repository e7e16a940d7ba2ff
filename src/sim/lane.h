#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ledger.h"
#include "points.h"
#include "program.h"

namespace sluice::sim {

/// One instance of the machine on its way through the loops. All lanes take each step together.
struct Lane {
  std::map<EinsumId, Box> boxes;    ///< the tile of every Einsum that has work here
  std::vector<std::int64_t> turns;  ///< its share of each spatial loop above, outermost first
  std::vector<std::size_t> ids;     ///< ids[d]: number of the instance as seen by d spatial loops
  InstancePlace place;              ///< physical coordinates
};

struct Cell {
  double value = 0;
  bool is_made = false;
  bool was_read = false;  ///< partial sums: its instance has read what was there before
};

/// What a storage does for one Einsum (model.md: it "serves each child Einsum on its own").
struct Service {
  Points fetched;  ///< what the Einsum reads and must be fetched
  Points outputs;  ///< what it writes
  bool is_filled = false;
};

/// The contents of one storage in one instance: exactly the points of its tile.
struct Buffer {
  Points points;
  std::vector<Cell> cells;               ///< per point
  std::map<EinsumId, Service> services;  ///< storages that are no backing, while they are open
  std::map<EinsumId, Points> windows;    ///< sliding: what each Einsum had in the last step
  std::size_t run = 0;                   ///< sliding: run of the loop that it slides over

  /// Null for a point that is not there.
  Cell* find(Element element);
  /// Replaces the points; those that stay keep their values.
  void move_to(Points points);
};

/// The buffers of the machine, by storage and instance.
class BufferTable {
 public:
  Buffer& at(const StorageItem& storage, std::size_t instance) {
    return buffers_[{storage.id, instance}];
  }
  /// Null where the storage is not open there.
  Buffer* find(const StorageItem& storage, std::size_t instance) {
    const auto buffer = buffers_.find({storage.id, instance});
    return buffer == buffers_.end() ? nullptr : &buffer->second;
  }
  void erase(const StorageItem& storage, std::size_t instance) {
    buffers_.erase({storage.id, instance});
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, Buffer> buffers_;
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

}  // namespace sluice::sim
