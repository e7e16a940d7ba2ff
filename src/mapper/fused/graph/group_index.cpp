#include "group_index.h"

#include <algorithm>

#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

std::uint64_t hash_of_loop(std::uint32_t extent) { return KeyHash::mix(extent + 1); }

/// `loops`: sum over the loops, so that their order does not matter.
std::uint64_t hash_of(std::uint64_t exchanges, std::size_t depth, std::uint64_t loops) {
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
                       std::vector<std::pair<std::size_t, std::size_t>> shared, std::size_t most,
                       const std::atomic<bool>* cancel)
    : table_(&table), shared_(std::move(shared)) {
  for (std::uint32_t g = 0; g < groups.size() && !is_cancelled(cancel); ++g)
    for (std::size_t depth = 0; wanted[g] != 0 && depth <= std::min(most, groups[g].extents.size());
         ++depth)
      add(groups[g], g, depth);
  for (auto& [key, entries] : entries_)
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.blocks < b.blocks; });
}

void GroupIndex::add(const CompactSpine& group, std::uint32_t number, std::size_t depth) {
  std::uint64_t exchanges = 0;
  for (const auto& [there, here] : shared_)
    exchanges = KeyHash::mix(exchanges ^ group.exchanges[here]);
  // Whole blocks of permutable loops first, then some of the next one.
  const Blocks blocks = blocks_of(group, depth);
  const std::size_t last = blocks.extents.size();
  const std::size_t n_ends = blocks.ends.size();
  const std::size_t first = last == depth ? depth : n_ends < 2 ? 0 : blocks.ends[n_ends - 2];
  const std::uint32_t shape = number_of(blocks);
  std::uint64_t sum = 0;
  for (std::size_t l = 0; l < first; ++l) sum += hash_of_loop(blocks.extents[l]);
  for_each_choice(blocks.extents, first, last, depth - first, sum, [&](std::uint64_t loops) {
    std::vector<Entry>& known = entries_[hash_of(exchanges, depth, loops)];
    if (known.empty() || known.back().group != number) known.push_back({shape, number});
  });
}

GroupIndex::Blocks GroupIndex::blocks_of(const CompactSpine& spine, std::size_t depth) const {
  const std::vector<bool>& stop_before = table_->stop_before(spine);
  Blocks blocks;
  for (std::size_t first = 0; first < depth;) {
    std::size_t last = first + 1;
    while (last < spine.extents.size() && !stop_before[last]) ++last;
    for (std::size_t l = first; l < last; ++l) blocks.extents.push_back(spine.extents[l]);
    std::sort(blocks.extents.begin() + static_cast<std::ptrdiff_t>(first), blocks.extents.end());
    blocks.ends.push_back(static_cast<std::uint32_t>(last));
    first = last;
  }
  return blocks;
}

std::uint32_t GroupIndex::number_of(const Blocks& blocks) {
  std::uint64_t hash = KeyHash::mix(blocks.ends.size());
  for (std::uint32_t end : blocks.ends) hash = KeyHash::mix(hash ^ end);
  for (std::uint32_t extent : blocks.extents) hash = KeyHash::mix(hash ^ extent);
  return blocks_.number(hash, blocks);
}

/// Whether of any two sets of outermost blocks, one of each side, the smaller is part of the
/// larger: else no order of the loops respects both.
bool GroupIndex::agree(const Blocks& a, const Blocks& b) {
  for (std::size_t p = 0, q = 0; p < a.ends.size() && q < b.ends.size();) {
    const bool a_first = a.ends[p] <= b.ends[q];
    const Blocks &inner = a_first ? a : b, &outer = a_first ? b : a;
    const std::size_t inner_end = inner.ends[a_first ? p : q],
                      outer_end = outer.ends[a_first ? q : p];
    for (std::size_t l = 0; l < inner_end; ++l) {
      const std::uint32_t extent = inner.extents[l];
      const auto count = [extent](const Blocks& blocks, std::size_t end) {
        return std::count(blocks.extents.begin(),
                          blocks.extents.begin() + static_cast<std::ptrdiff_t>(end), extent);
      };
      if (count(inner, inner_end) > count(outer, outer_end)) return false;
    }
    p += a_first ? 1 : 0;
    q += a_first ? 0 : 1;
  }
  return true;
}

std::uint64_t GroupIndex::key_of(const CompactSpine& spine) const {
  std::uint64_t exchanges = 0, loops = 0;
  for (const auto& [there, here] : shared_)
    exchanges = KeyHash::mix(exchanges ^ spine.exchanges[there]);
  for (std::uint32_t extent : spine.extents) loops += hash_of_loop(extent);
  return hash_of(exchanges, spine.extents.size(), loops);
}

void GroupIndex::find(const CompactSpine& spine, std::vector<std::uint32_t>* found) const {
  found->clear();
  const auto at = entries_.find(key_of(spine));
  if (at == entries_.end()) return;
  const Blocks own = blocks_of(spine, spine.extents.size());
  bool agrees = false;
  const Entry* last = nullptr;
  for (const Entry& entry : at->second) {
    if (last == nullptr || entry.blocks != last->blocks) agrees = agree(own, blocks_[entry.blocks]);
    if (agrees) found->push_back(entry.group);
    last = &entry;
  }
}

}  // namespace sluice::fused
