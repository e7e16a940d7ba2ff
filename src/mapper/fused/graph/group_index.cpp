#include "group_index.h"

#include <algorithm>

#include "mapper/common/parallel.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

std::uint64_t hash_of(const GroupIndex::Blocks& blocks) {
  std::uint64_t hash = KeyHash::mix(blocks.ends.size());
  for (std::uint32_t end : blocks.ends) hash = KeyHash::mix(hash ^ end);
  for (std::uint32_t extent : blocks.extents) hash = KeyHash::mix(hash ^ extent);
  return hash;
}

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

GroupIndex::GroupIndex(const SpineTable& table, const SpineList& groups,
                       const std::vector<char>& wanted,
                       std::vector<std::pair<std::size_t, std::size_t>> shared, std::size_t most,
                       int threads, const std::atomic<bool>* cancel)
    : table_(&table), shared_(std::move(shared)) {
  constexpr std::size_t kChunk = 2048;
  std::vector<Part> parts((groups.size() + kChunk - 1) / kChunk);
  parallel_chunks(threads, groups.size(), kChunk, [&](std::size_t first, std::size_t last) {
    Blocks own;
    for (std::size_t g = first; g < last && !is_cancelled(cancel); ++g)
      for (std::size_t depth = 0;
           wanted[g] != 0 && depth <= std::min(most, groups[g].extents.size()); ++depth)
        add(groups[g], static_cast<std::uint32_t>(g), depth, &own, &parts[first / kChunk]);
  });
  std::size_t n = 0;
  for (const Part& part : parts) n += part.keys.size();
  std::vector<std::uint32_t> list;  // per entry
  std::vector<Entry> entries;
  list.reserve(n);
  entries.reserve(n);
  for (Part& part : parts) {
    std::vector<std::uint32_t> number;
    const std::vector<Blocks> blocks = part.blocks.take();
    for (const Blocks& own : blocks) number.push_back(blocks_.number(hash_of(own), own));
    for (std::size_t i = 0; i < part.keys.size(); ++i) {
      list.push_back(
          list_of_.try_emplace(part.keys[i], static_cast<std::uint32_t>(list_of_.size())).first);
      entries.push_back({number[part.entries[i].blocks], part.entries[i].group});
    }
    part = {};
  }
  // List by list, in the order of the groups; then in that of their blocks.
  first_.assign(list_of_.size() + 2, 0);
  for (const std::uint32_t l : list) ++first_[l + 2];
  for (std::size_t l = 1; l < first_.size(); ++l) first_[l] += first_[l - 1];
  entries_.resize(n);
  for (std::size_t i = 0; i < n; ++i) entries_[first_[list[i] + 1]++] = entries[i];
  for (std::size_t l = 0; l < list_of_.size(); ++l)
    std::stable_sort(entries_.begin() + first_[l], entries_.begin() + first_[l + 1],
                     [](const Entry& a, const Entry& b) { return a.blocks < b.blocks; });
}

void GroupIndex::add(const SpineView& group, std::uint32_t number, std::size_t depth, Blocks* own,
                     Part* part) const {
  std::uint64_t exchanges = 0;
  for (const auto& [there, here] : shared_)
    exchanges = KeyHash::mix(exchanges ^ group.exchanges[here]);
  // Whole blocks of permutable loops first, then some of the next one.
  find_blocks(group, depth, own);
  const std::size_t last = own->extents.size();
  const std::size_t n_ends = own->ends.size();
  const std::size_t first = last == depth ? depth : n_ends < 2 ? 0 : own->ends[n_ends - 2];
  const std::uint32_t shape = part->blocks.number(hash_of(*own), *own);
  std::uint64_t sum = 0;
  for (std::size_t l = 0; l < first; ++l) sum += hash_of_loop(own->extents[l]);
  const std::size_t before = part->keys.size();
  for_each_choice(own->extents, first, last, depth - first, sum, [&](std::uint64_t loops) {
    const std::uint64_t key = hash_of(exchanges, depth, loops);
    if (std::find(part->keys.begin() + static_cast<std::ptrdiff_t>(before), part->keys.end(),
                  key) != part->keys.end())
      return;  // of loops that are alike
    part->keys.push_back(key);
    part->entries.push_back({shape, number});
  });
}

void GroupIndex::find_blocks(const SpineView& spine, std::size_t depth, Blocks* blocks) const {
  const std::vector<bool>& stop_before = table_->stop_before(spine);
  blocks->extents.clear();
  blocks->ends.clear();
  for (std::size_t first = 0; first < depth;) {
    std::size_t last = first + 1;
    while (last < spine.extents.size() && !stop_before[last]) ++last;
    for (std::size_t l = first; l < last; ++l) blocks->extents.push_back(spine.extents[l]);
    std::sort(blocks->extents.begin() + static_cast<std::ptrdiff_t>(first), blocks->extents.end());
    blocks->ends.push_back(static_cast<std::uint32_t>(last));
    first = last;
  }
}

/// Whether of any two sets of outermost blocks, one of each side, the smaller is part of the
/// larger: else no order of the loops respects both.
bool GroupIndex::agree(const Blocks& a, const Blocks& b) {
  if (a.ends.size() < 2 || b.ends.size() < 2) return true;  // they have the same loops
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

std::uint64_t GroupIndex::key_of(const SpineView& spine) const {
  std::uint64_t exchanges = 0, loops = 0;
  for (const auto& [there, here] : shared_)
    exchanges = KeyHash::mix(exchanges ^ spine.exchanges[there]);
  for (std::uint32_t extent : spine.extents) loops += hash_of_loop(extent);
  return hash_of(exchanges, spine.extents.size(), loops);
}

void GroupIndex::find(const SpineView& spine, Blocks* own,
                      std::vector<std::uint32_t>* found) const {
  found->clear();
  const std::uint32_t list = list_of_.find(key_of(spine));
  if (list == HashIndex::kNone) return;
  find_blocks(spine, spine.extents.size(), own);
  bool agrees = false;
  const Entry* last = nullptr;
  for (std::uint32_t i = first_[list]; i < first_[list + 1]; ++i) {
    const Entry& entry = entries_[i];
    if (last == nullptr || entry.blocks != last->blocks)
      agrees = agree(*own, blocks_[entry.blocks]);
    if (agrees) found->push_back(entry.group);
    last = &entry;
  }
}

}  // namespace sluice::fused
