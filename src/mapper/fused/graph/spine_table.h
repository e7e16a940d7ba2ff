#pragma once

#include <oneapi/tbb/concurrent_vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "mapper/common/hash_tables.h"
#include "mapper/common/key_hash.h"
#include "mapper/space/spine.h"

namespace sluice::fused {

/// A spine as numbers: its structure, and the extents (trip count, tile, fanned-out dimension) of
/// its loops. Equal spines have equal numbers. It is what looks at a spine that is kept elsewhere.
struct SpineView {
  std::uint32_t structure = 0;
  std::span<const std::uint32_t> extents;    ///< per loop
  std::span<const std::uint64_t> exchanges;  ///< per live tensor (exchange.h)
  std::span<const double> bits;              ///< per live tensor: its reservation
  bool operator==(const SpineView& other) const {
    return structure == other.structure && std::ranges::equal(extents, other.extents);
  }
};

/// The same, kept here.
struct CompactSpine {
  std::uint32_t structure = 0;
  std::vector<std::uint32_t> extents;
  std::vector<std::uint64_t> exchanges;
  std::vector<double> bits;
  operator SpineView() const { return {structure, extents, exchanges, bits}; }
};

/// Numbers spines: several threads may use it at once. Which number a spine has depends on who
/// came first, and nothing else does.
class SpineTable {
 public:
  CompactSpine compact(const Spine& spine);
  std::uint32_t number_structure(const Spine& spine);
  Spine expand(const SpineView& spine) const;

  /// Per loop of a spine: it may not be permuted with the one above it.
  const std::vector<bool>& stop_before(const SpineView& spine) const {
    return structures_[spine.structure].stop_before;
  }

  /// The live tensors of a spine; for their reservations see `CompactSpine::bits`.
  const std::vector<LiveTensor>& live(const SpineView& spine) const {
    return structures_[spine.structure].live;
  }

  /// Whether a loop of this extent stands above one of the other, if they may be permuted.
  bool is_before(std::uint32_t extent, std::uint32_t other) const {
    return extents_[extent] < extents_[other];
  }

 private:
  using Key = std::vector<std::int64_t>;
  /// Of memory that sanitizers see, unlike TBB's own.
  template <class T>
  using Growing = tbb::concurrent_vector<T, std::allocator<T>>;
  struct Extent {
    bool spatial;
    ComponentId component;
    std::uint32_t dimension;
    std::int64_t trips, tile;
    /// As sort_key(SpineLoop) begins.
    auto key() const { return std::tuple(spatial, component.index(), dimension, trips, tile); }
    bool operator<(const Extent& other) const { return key() < other.key(); }
    bool operator==(const Extent& other) const { return key() == other.key(); }
  };
  struct ExtentHash {
    std::size_t operator()(const Extent& extent) const;
  };

  template <class Numbers, class Item>
  std::uint32_t number(const typename Numbers::key_type& key, const Item& item, Numbers* numbers,
                       Growing<Item>* items);
  std::uint32_t number_extent(const SpineLoop& loop);

  std::shared_mutex mutex_;
  Growing<Extent> extents_;
  std::unordered_map<Extent, std::uint32_t, ExtentHash> extent_number_;
  Growing<Spine> structures_;  // with some extents
  std::unordered_map<Key, std::uint32_t, KeyHash> structure_number_;
};

struct AliveTensor;

/// What is known of each tensor, whatever is joined.
struct TensorUses {
  std::vector<std::size_t> last;         ///< the last Einsum that uses it, as in join_spines
  std::vector<std::size_t> last_copied;  ///< the last Einsum that copies it; 0: none
  const TensorRoles* roles = nullptr;    ///< of the workload, which is to outlive it
};

/// Joins spines by number, for one thread. Whether and how two spines match depends on their
/// structures and on which loops have equal extents; each such case is worked out once
/// (match_spines, join_spines) and remembered.
class SpineJoiner {
 public:
  /// Both must outlive it.
  SpineJoiner(SpineTable* table, const TensorUses* uses) : table_(table), uses_(uses) {}

  /// How two spines are joined, for all of their structures and equal extents.
  struct Case;

  /// How Einsum number `einsum` stands under all open loops of a prefix; null: it cannot.
  Case* match(const SpineView& prefix, const SpineView& next, std::size_t einsum);
  /// The spine after joining matching ones, but for its structure and the order of its loops.
  static void join(const Case& found, const SpineView& prefix, const SpineView& next,
                   CompactSpine* joined);
  /// Completes what join() began.
  void settle(Case* found, CompactSpine* joined);

 private:
  std::optional<Case> work_out(const Spine& prefix, const Spine& next, std::size_t einsum) const;
  std::vector<AliveTensor> find_alive(const Spine& prefix, const Spine& next, const Match& match,
                                      std::size_t einsum) const;
  bool is_told_apart(const LiveTensor& tensor, const AliveTensor& alive, std::size_t einsum) const;

  SpineTable* table_;
  const TensorUses* uses_;
  std::vector<std::uint32_t> from_, in_order_;  // of settle()
  std::vector<std::unique_ptr<Case>> cases_;    // null: no match
  HashIndex case_of_;                           // by a hash of all that decides a case
};

/// A tensor that is alive while an Einsum runs that is joined to a spine.
struct AliveTensor {
  bool before;  ///< alive before it, too
  Stay stays;   ///< and after it
  bool persistent;
  bool alone;                      ///< no other that stays is in the same reservation
  bool only_one;                   ///< no other that is alive is in it
  bool apart_before, apart_after;  ///< LiveTensor::told_apart, in the prefix and when joined
  TensorId id;
  ComponentId component;
  std::uint32_t level;     ///< of its reservation
  std::uint32_t position;  ///< in the prefix, or in the next
  /// Those in whose reservation it lies as far as that is as large (shares_reservation()), by index
  /// into all that are alive.
  std::vector<std::uint32_t> holders;
};

/// Complete but for the order of loops that may be permuted.
struct SpineJoiner::Case {
  std::vector<std::pair<std::int32_t, std::int32_t>> loops;  // open ones: in prefix, in next
  std::vector<std::uint32_t> rank;     // per loop: order of all but its extent
  std::vector<std::size_t> block_end;  // loops of one block may be permuted
  std::vector<AliveTensor> alive;      // ascending by tensor
  Spine joined;                        // its loops as in `loops`, with some extents
  std::vector<std::pair<std::uint64_t, std::uint32_t>> structures;  // by order of the loops
};

inline double bits_of(const AliveTensor& tensor, const SpineView& prefix, const SpineView& next) {
  return (tensor.before ? prefix : next).bits[tensor.position];
}

/// What a tensor adds to the reservation that it shares with others: while the Einsum runs, or
/// after it.
inline double own_bits(const SpineJoiner::Case& found, const AliveTensor& tensor, bool after,
                       const SpineView& prefix, const SpineView& next) {
  double common = 0;
  for (const std::uint32_t i : tensor.holders)
    if (const AliveTensor& holder = found.alive[i]; !after || holder.stays != Stay::kNo)
      common = std::max(common, bits_of(holder, prefix, next));
  return std::max(0.0, bits_of(tensor, prefix, next) - common);
}

}  // namespace sluice::fused
