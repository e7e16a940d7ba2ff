#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/common/numbered.h"
#include "spine_list.h"

namespace sluice::fused {

/// Finds the compatibilities of an Einsum that may be joined to a spine: those that exchange the
/// tensors of both in the same way and have the spine's open loops among their outermost ones, as
/// far as loops that may be permuted leave open which these are.
class GroupIndex {
 public:
  /// `shared`: the tensors of both, as positions in a spine's exchanges and in a group's; `depth`:
  /// the most open loops that will be asked for. Keeps what `wanted` marks. Once `cancel` (may be
  /// null) is set, less.
  GroupIndex(const SpineTable& table, const SpineList& groups, const std::vector<char>& wanted,
             std::vector<std::pair<std::size_t, std::size_t>> shared, std::size_t depth,
             int threads, const std::atomic<bool>* cancel);

  /// The blocks of permutable loops of a spine, as far as some depth: extents, ascending in each.
  struct Blocks {
    std::vector<std::uint32_t> extents;
    std::vector<std::uint32_t> ends;
    bool operator==(const Blocks&) const = default;
  };

  /// Puts all that can be joined into `found`, and few that cannot. `own` is overwritten.
  void find(const SpineView& spine, Blocks* own, std::vector<std::uint32_t>* found) const;
  /// Whether there may be one at all.
  bool finds(const SpineView& spine) const {
    return list_of_.find(key_of(spine)) != HashIndex::kNone;
  }

 private:
  struct Entry {
    std::uint32_t blocks;  ///< number of the group's
    std::uint32_t group;
  };
  /// What some of the groups are found by.
  struct Part {
    std::vector<std::uint64_t> keys;
    std::vector<Entry> entries;  ///< per key
    Numbered<Blocks> blocks;
  };

  std::uint64_t key_of(const SpineView& spine) const;
  void add(const SpineView& group, std::uint32_t number, std::size_t depth, Blocks* own,
           Part* part) const;
  void find_blocks(const SpineView& spine, std::size_t depth, Blocks* blocks) const;
  static bool agree(const Blocks& a, const Blocks& b);

  const SpineTable* table_;
  std::vector<std::pair<std::size_t, std::size_t>> shared_;
  HashIndex list_of_;                 // by key
  std::vector<std::uint32_t> first_;  // per list: its first entry, and where the last one ends
  std::vector<Entry> entries_;        // list by list, ascending by blocks, group
  Numbered<Blocks> blocks_;
};

}  // namespace sluice::fused
