#include "spine_table.h"

#include <algorithm>
#include <numeric>
#include <shared_mutex>
#include <utility>

#include "mapper/fused/exchange/exchange.h"

namespace sluice::fused {
namespace {

using Key = std::vector<std::int64_t>;

std::uint64_t exchange_of(const Spine& spine, const LiveTensor& tensor) {
  ExchangeHash hash;
  for (std::size_t l = 0; l < tensor.level; ++l) {
    const SpineLoop& loop = spine.loops[l];
    hash.add_loop(rank_of(loop, tensor.id), loop.tile, loop.trips, loop.spatial, loop.component,
                  loop.dimension);
  }
  return hash.at(tensor.component, tensor.persistent, tensor.kept_by);
}

}  // namespace

std::size_t SpineTable::ExtentHash::operator()(const Extent& extent) const {
  std::uint64_t hash =
      extent.spatial ? (extent.component.index() + 1) << 16U ^ extent.dimension : 0;
  for (const std::int64_t size : {extent.trips, extent.tile})
    hash = KeyHash::mix(hash ^ static_cast<std::uint64_t>(size));
  return hash;
}

/// Most are known.
template <class Numbers, class Item>
std::uint32_t SpineTable::number(const typename Numbers::key_type& key, const Item& item,
                                 Numbers* numbers, Growing<Item>* items) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = numbers->find(key); at != numbers->end()) return at->second;
  }
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = numbers->try_emplace(key, static_cast<std::uint32_t>(items->size()));
  if (is_new) items->push_back(item);
  return at->second;
}

std::uint32_t SpineTable::number_extent(const SpineLoop& loop) {
  Extent extent{loop.spatial, loop.component, loop.dimension, loop.trips, loop.tile};
  if (!extent.spatial) {  // where it stands says nothing
    extent.component = ComponentId{};
    extent.dimension = 0;
  }
  return number(extent, extent, &extent_number_, &extents_);
}

namespace {

/// All of a spine but its extents.
Key key_of_structure(const Spine& spine) {
  constexpr std::size_t kOfTensor = 8, kOfLoop = 4;
  Key key;
  key.reserve(3 + spine.live.size() * kOfTensor +
              spine.loops.size() * (kOfLoop + 3 * spine.live.size()));
  key.assign({static_cast<std::int64_t>(spine.loops.size()), spine.continues_recurrence,
              spine.recurrence_goes_on});
  for (std::size_t l = 0; l < spine.loops.size(); ++l) {
    const std::size_t size = key.size();
    key.push_back(0);
    append_structure(spine.loops[l], &key);
    key[size] = static_cast<std::int64_t>(key.size() - size);
    key.push_back(spine.stop_before[l]);
  }
  for (const LiveTensor& tensor : spine.live) {
    key.push_back(static_cast<std::int64_t>(tensor.id.index()));
    key.push_back(static_cast<std::int64_t>(tensor.component.index()));
    key.push_back(tensor.persistent ? -1 : static_cast<std::int64_t>(tensor.level));
    key.push_back(tensor.kept_by);
    key.push_back(tensor.carried_by);
    key.push_back(static_cast<std::int64_t>(tensor.origin.index()));
    key.push_back(tensor.copies);
    key.push_back(tensor.told_apart);
  }
  return key;
}

}  // namespace

std::uint32_t SpineTable::number_structure(const Spine& spine) {
  return number(key_of_structure(spine), spine, &structure_number_, &structures_);
}

CompactSpine SpineTable::compact(const Spine& spine) {
  CompactSpine result;
  result.structure = number_structure(spine);
  result.extents.reserve(spine.loops.size());
  for (const SpineLoop& loop : spine.loops) result.extents.push_back(number_extent(loop));
  for (const LiveTensor& tensor : spine.live) {
    result.exchanges.push_back(exchange_of(spine, tensor));
    result.bits.push_back(tensor.bits);
  }
  return result;
}

Spine SpineTable::expand(const SpineView& compact) const {
  Spine spine = structures_[compact.structure];
  for (std::size_t l = 0; l < spine.loops.size(); ++l) {
    const Extent& extent = extents_[compact.extents[l]];
    SpineLoop& loop = spine.loops[l];
    loop.spatial = extent.spatial;
    loop.component = extent.component;
    loop.dimension = extent.dimension;
    loop.trips = extent.trips;
    loop.tile = extent.tile;
  }
  return spine;
}

/// Of a tensor that is alone in its reservation as long as a later Einsum has not made a copy of
/// it.
bool SpineJoiner::is_told_apart(const LiveTensor& tensor, const AliveTensor& alive,
                                std::size_t einsum) const {
  return uses_->last_copied[tensor.id.index()] > einsum && alive.only_one && !tensor.persistent &&
         tensor.level > 0 && tensor.carried_by < 0 && tensor.origin == tensor.id &&
         (!alive.before || alive.apart_before);
}

/// Tensors that are alive while the next Einsum runs.
std::vector<AliveTensor> SpineJoiner::find_alive(const Spine& prefix, const Spine& next,
                                                 const Match& match, std::size_t einsum) const {
  const std::vector<LiveTensor> all = alive_during(prefix, next);
  const std::vector<Stay> stays = stays_after(all, uses_->last, einsum);
  std::vector<AliveTensor> result;
  for (std::size_t a = 0; a < all.size(); ++a) {
    const LiveTensor& tensor = all[a];
    AliveTensor& own = result.emplace_back();
    const LiveTensor* const before = fused::find_live(prefix, tensor.id);
    own.before = before != nullptr;
    own.position = static_cast<std::uint32_t>(own.before ? before - prefix.live.data()
                                                         : fused::find_live(next, tensor.id) -
                                                               next.live.data());
    own.stays = stays[a];
    own.persistent = tensor.persistent;
    own.alone = true;
    own.only_one = true;
    own.id = tensor.id;
    own.component = tensor.component;
    own.level = reserved_level(tensor, prefix, next, match);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const LiveTensor& other = all[i];
      if (other.id == tensor.id || other.origin != tensor.origin) continue;
      own.only_one = false;
      if (stays[i] != Stay::kNo) own.alone = false;
      if (shares_reservation(other, tensor)) own.holders.push_back(i);
    }
    own.apart_before = own.before && tensor.told_apart;
    own.apart_after = own.stays != Stay::kNo && is_told_apart(tensor, own, einsum);
  }
  return result;
}

std::optional<SpineJoiner::Case> SpineJoiner::work_out(const Spine& prefix, const Spine& next,
                                                       std::size_t einsum) const {
  Case result;
  const std::optional<Match> match = match_spines(prefix, next, *uses_->roles);
  if (!match) return std::nullopt;
  const JoinedSpine joined = join_spines(prefix, next, *match, uses_->last, einsum);
  if (!joined.connected) return std::nullopt;
  const std::size_t depth = joined.spine.loops.size();
  result.loops.assign(match->loops.begin(),
                      match->loops.begin() + static_cast<std::ptrdiff_t>(depth));
  result.joined = joined.spine;
  result.alive = find_alive(prefix, next, *match, einsum);
  for (LiveTensor& tensor : result.joined.live)
    for (const AliveTensor& alive : result.alive)
      if (alive.id == tensor.id) tensor.told_apart = alive.apart_after;
  for (std::size_t i = 0; i < depth; ++i)
    result.joined.loops[joined.from[i]] = joined.spine.loops[i];
  for (LiveTensor& tensor : result.joined.live)
    if (const std::int32_t at = tensor.carried_by; at >= 0)
      tensor.carried_by = static_cast<std::int32_t>(joined.from[static_cast<std::size_t>(at)]);
  std::vector<Key> keys;
  for (const SpineLoop& loop : result.joined.loops) append_structure(loop, &keys.emplace_back());
  std::vector<Key> order = keys;
  std::sort(order.begin(), order.end());
  for (const Key& key : keys)
    result.rank.push_back(static_cast<std::uint32_t>(
        std::lower_bound(order.begin(), order.end(), key) - order.begin()));
  for (std::size_t i = 1; i < depth; ++i)
    if (joined.spine.stop_before[i]) result.block_end.push_back(i);
  result.block_end.push_back(depth);
  return result;
}

SpineJoiner::Case* SpineJoiner::match(const SpineView& prefix, const SpineView& next,
                                      std::size_t einsum) {
  if (next.extents.size() < prefix.extents.size()) return nullptr;
  std::uint64_t key = KeyHash::mix(einsum + 1);
  key = KeyHash::mix(key ^ (std::uint64_t{prefix.structure} << 32U | next.structure));
  for (std::uint32_t mine : prefix.extents) {
    std::uint64_t equal = 0;
    for (std::size_t r = 0; r < next.extents.size(); ++r) {
      equal |= std::uint64_t{next.extents[r] == mine} << r % 64;
      if (r % 64 == 63) key = KeyHash::mix(key ^ std::exchange(equal, 0));
    }
    key = KeyHash::mix(key ^ equal);
  }
  const auto [number, is_new] =
      case_of_.try_emplace(key, static_cast<std::uint32_t>(cases_.size()));
  if (is_new) {
    auto found = work_out(table_->expand(prefix), table_->expand(next), einsum);
    cases_.push_back(found ? std::make_unique<Case>(std::move(*found)) : nullptr);
  }
  return cases_[number].get();
}

void SpineJoiner::join(const Case& found, const SpineView& prefix, const SpineView& next,
                       CompactSpine* joined) {
  joined->extents.clear();
  joined->exchanges.clear();
  joined->bits.clear();
  for (const auto& [left, right] : found.loops)
    joined->extents.push_back(left >= 0 ? prefix.extents[static_cast<std::size_t>(left)]
                                        : next.extents[static_cast<std::size_t>(right)]);
  for (const Stay stay : {Stay::kNeeded, Stay::kForRoom})
    for (const AliveTensor& tensor : found.alive) {
      if (tensor.stays != stay) continue;
      joined->exchanges.push_back((tensor.before ? prefix : next).exchanges[tensor.position]);
      joined->bits.push_back(bits_of(tensor, prefix, next));
    }
}

void SpineJoiner::settle(Case* found, CompactSpine* joined) {
  // Loops of a block stand in the order of their sort keys, which begin with the extent.
  const std::size_t depth = joined->extents.size();
  from_.resize(depth);
  std::iota(from_.begin(), from_.end(), 0U);
  const auto stands_before = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t x = joined->extents[a], y = joined->extents[b];
    return x != y ? table_->is_before(x, y) : found->rank[a] < found->rank[b];
  };
  std::size_t first = 0;
  for (std::size_t last : found->block_end) {
    for (std::size_t i = first + 1; i < last; ++i)  // stable, and they are few
      for (std::size_t k = i; k > first && stands_before(from_[k], from_[k - 1]); --k)
        std::swap(from_[k], from_[k - 1]);
    first = last;
  }
  std::uint64_t order = 0;
  in_order_.clear();
  for (std::uint32_t i : from_) {
    order = order * 16 + i;
    in_order_.push_back(joined->extents[i]);
  }
  std::swap(joined->extents, in_order_);
  const bool packs = depth <= 15;
  for (const auto& [known, structure] : found->structures)
    if (packs && known == order) {
      joined->structure = structure;
      return;
    }
  Spine spine = found->joined;
  for (std::size_t i = 0; i < depth; ++i) spine.loops[i] = found->joined.loops[from_[i]];
  for (LiveTensor& tensor : spine.live)
    if (tensor.carried_by >= 0)
      tensor.carried_by = static_cast<std::int32_t>(
          std::find(from_.begin(), from_.end(), static_cast<std::uint32_t>(tensor.carried_by)) -
          from_.begin());
  joined->structure = table_->number_structure(spine);
  if (packs) found->structures.emplace_back(order, joined->structure);
}

}  // namespace sluice::fused
