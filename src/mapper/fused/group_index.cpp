#include "group_index.h"

#include <algorithm>

namespace sluice::fused {
namespace {

std::uint64_t hash_of_loop(std::uint32_t extent) { return KeyHash::mix(extent + 1); }

/// `loops`: sum over the loops, so that their order does not matter.
std::uint64_t key_of(std::uint64_t exchanges, std::size_t depth, std::uint64_t loops) {
  return KeyHash::mix(exchanges ^ depth) + loops;
}

/// Calls `body` with the sum over each choice of `n` of the loops [first, last).
template <class Body>
void for_each_choice(const std::vector<std::uint32_t>& extents, std::size_t first, std::size_t last,
                     std::size_t n, std::uint64_t sum, const Body& body) {
  if (n == 0) {
    body(sum);
    return;
  }
  for (std::size_t l = first; l + n <= last; ++l)
    for_each_choice(extents, l + 1, last, n - 1, sum + hash_of_loop(extents[l]), body);
}

}  // namespace

GroupIndex::GroupIndex(const SpineTable& table, const std::vector<CompactSpine>& groups,
                       const std::vector<char>& wanted,
                       std::vector<std::pair<std::size_t, std::size_t>> shared,
                       const std::vector<std::size_t>& depths)
    : shared_(std::move(shared)) {
  for (std::uint32_t g = 0; g < groups.size(); ++g)
    for (std::size_t depth : depths)
      if (wanted[g] != 0 && depth <= groups[g].extents.size()) add(table, groups[g], g, depth);
}

void GroupIndex::add(const SpineTable& table, const CompactSpine& group, std::uint32_t number,
                     std::size_t depth) {
  std::uint64_t exchanges = 0;
  for (const auto& [there, here] : shared_)
    exchanges = KeyHash::mix(exchanges ^ group.exchanges[here]);
  // Whole blocks of permutable loops first, then some of the next one.
  const std::vector<bool>& stop_before = table.stop_before(group);
  std::size_t first = depth, last = depth;
  while (first > 0 && first < group.extents.size() && !stop_before[first]) --first;
  while (last < group.extents.size() && !stop_before[last]) ++last;
  std::uint64_t sum = 0;
  for (std::size_t l = 0; l < first; ++l) sum += hash_of_loop(group.extents[l]);
  for_each_choice(group.extents, first, last, depth - first, sum, [&](std::uint64_t loops) {
    std::vector<std::uint32_t>& known = groups_[key_of(exchanges, depth, loops)];
    if (known.empty() || known.back() != number) known.push_back(number);
  });
}

const std::vector<std::uint32_t>& GroupIndex::find(const CompactSpine& spine) const {
  static const std::vector<std::uint32_t> none;
  std::uint64_t exchanges = 0, loops = 0;
  for (const auto& [there, here] : shared_)
    exchanges = KeyHash::mix(exchanges ^ spine.exchanges[there]);
  for (std::uint32_t extent : spine.extents) loops += hash_of_loop(extent);
  const auto at = groups_.find(key_of(exchanges, spine.extents.size(), loops));
  return at == groups_.end() ? none : at->second;
}

}  // namespace sluice::fused
