#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
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
};

/// The contents of one storage in one instance: exactly the points of its tile.
struct Buffer {
  Points points;
  std::vector<Cell> cells;  ///< per point
  Points inputs, outputs;   ///< the points that its Einsum reads, and that it writes
  bool is_filled = false;
  std::size_t run = 0;  ///< sliding: run of the loop that it slides over

  /// Null for a point that is not there.
  Cell* find(Element element);
  /// Replaces the points; those that stay keep their values.
  void move_to(Points points);
};

/// The buffers of the machine. A storage that is nobody's backing has one for each Einsum that it
/// serves (model.md: it "serves each child Einsum on its own"); a backing one is everybody's.
class BufferTable {
 public:
  Buffer& at(const StorageItem& storage, EinsumId einsum, std::size_t instance) {
    return buffers_[key(storage, einsum, instance)];
  }
  Buffer* find(const StorageItem& storage, EinsumId einsum, std::size_t instance) {
    const auto buffer = buffers_.find(key(storage, einsum, instance));
    return buffer == buffers_.end() ? nullptr : &buffer->second;
  }
  void erase(const StorageItem& storage, EinsumId einsum, std::size_t instance) {
    buffers_.erase(key(storage, einsum, instance));
  }

 private:
  static std::size_t key(const StorageItem& storage, EinsumId einsum, std::size_t instance) {
    const std::size_t owner = storage.is_backing ? 0 : einsum.index() + 1;
    return (storage.id << 44U) | (owner << 28U) | instance;
  }

  std::unordered_map<std::size_t, Buffer> buffers_;
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
