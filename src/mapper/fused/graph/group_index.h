#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mapper/common/numbered.h"
#include "spine_table.h"

namespace sluice::fused {

/// Finds the compatibilities of an Einsum that may be joined to a spine: those that exchange the
/// tensors of both in the same way and have the spine's open loops among their outermost ones, as
/// far as loops that may be permuted leave open which these are.
class GroupIndex {
 public:
  /// `shared`: the tensors of both, as positions in a spine's exchanges and in a group's; `depth`:
  /// the most open loops that will be asked for. Keeps what `wanted` marks. Once `cancel` (may be
  /// null) is set, less.
  GroupIndex(const SpineTable& table, const std::vector<CompactSpine>& groups,
             const std::vector<char>& wanted,
             std::vector<std::pair<std::size_t, std::size_t>> shared, std::size_t depth,
             const std::atomic<bool>* cancel);

  /// Puts all that can be joined into `found`, and few that cannot.
  void find(const CompactSpine& spine, std::vector<std::uint32_t>* found) const;
  /// Whether there may be one at all.
  bool finds(const CompactSpine& spine) const { return entries_.count(key_of(spine)) > 0; }

 private:
  /// The blocks of permutable loops of a spine, as far as some depth: extents, ascending in each.
  struct Blocks {
    std::vector<std::uint32_t> extents;
    std::vector<std::uint32_t> ends;
    bool operator==(const Blocks&) const = default;
  };
  struct Entry {
    std::uint32_t blocks;  ///< number of the group's
    std::uint32_t group;
  };

  std::uint64_t key_of(const CompactSpine& spine) const;
  void add(const CompactSpine& group, std::uint32_t number, std::size_t depth);
  Blocks blocks_of(const CompactSpine& spine, std::size_t depth) const;
  std::uint32_t number_of(const Blocks& blocks);
  static bool agree(const Blocks& a, const Blocks& b);

  const SpineTable* table_;
  std::vector<std::pair<std::size_t, std::size_t>> shared_;
  std::unordered_map<std::uint64_t, std::vector<Entry>> entries_;  ///< ascending by blocks, group
  Numbered<Blocks> blocks_;
};

}  // namespace sluice::fused
