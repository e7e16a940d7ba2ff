#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spine_table.h"

namespace sluice::fused {

/// Finds the compatibilities of an Einsum that may be joined to a spine: those that exchange the
/// tensors of both in the same way and have the spine's open loops among their outermost ones, as
/// far as loops that may be permuted leave open which these are.
class GroupIndex {
 public:
  /// `shared`: the tensors of both, as positions in a spine's exchanges and in a group's;
  /// `depths`: numbers of open loops that will be asked for. Keeps what `wanted` marks.
  GroupIndex(const SpineTable& table, const std::vector<CompactSpine>& groups,
             const std::vector<char>& wanted,
             std::vector<std::pair<std::size_t, std::size_t>> shared,
             const std::vector<std::size_t>& depths);

  /// Ascending; with all that can be joined, and few that cannot.
  const std::vector<std::uint32_t>& find(const CompactSpine& spine) const;

 private:
  void add(const SpineTable& table, const CompactSpine& group, std::uint32_t number,
           std::size_t depth);

  std::vector<std::pair<std::size_t, std::size_t>> shared_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> groups_;
};

}  // namespace sluice::fused
