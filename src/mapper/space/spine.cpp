#include "spine.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "compatibility.h"

namespace sluice::fused {
namespace {

/// Whether a tensor is backed in some other memory.
bool is_elsewhere(const Compatibility& compatibility, std::int32_t tensor, ComponentId memory) {
  return std::any_of(
      compatibility.backings.begin(), compatibility.backings.end(), [&](const Backing& backing) {
        return static_cast<std::int32_t>(backing.tensor) == tensor && backing.component != memory;
      });
}

}  // namespace

Spine spine_of(const EinsumShape& shape, const Compatibility& compatibility) {
  Spine spine;
  for (const Backing& backing : compatibility.backings) {
    const LocalTensor& tensor = shape.tensors[backing.tensor];
    LiveTensor& live = spine.live.emplace_back(LiveTensor{
        tensor.id, backing.component, backing.level, backing.bits, backing.persistent, tensor.id});
    live.kept_by = backing.kept_by;
    live.carried_by = backing.carried_by;
    for (std::int32_t from = tensor.copy_of;
         from >= 0 && !is_elsewhere(compatibility, from, backing.component);
         from = shape.tensors[static_cast<std::size_t>(from)].copy_of) {
      live.origin = shape.tensors[static_cast<std::size_t>(from)].id;
      ++live.copies;
    }
  }
  std::sort(spine.live.begin(), spine.live.end(),
            [](const LiveTensor& a, const LiveTensor& b) { return a.id < b.id; });
  for (const FusedLoop& loop : compatibility.loops) {
    SpineLoop& own = spine.loops.emplace_back();
    own.spatial = loop.spatial;
    own.component = loop.component;
    own.dimension = loop.dimension;
    own.trips = loop.trips;
    own.tile = loop.tile;
    own.steps = shape.recurrence.step && !loop.spatial && loop.tile == 1 &&
                shape.variables[loop.variable] == *shape.recurrence.step;
    for (const LiveTensor& tensor : spine.live) {
      for (const LocalTensor& local : shape.tensors) {
        if (local.id != tensor.id) continue;
        const auto index = static_cast<std::size_t>(&local - shape.tensors.data());
        const bool copied = (loop.copied_above >> index & 1U) != 0;
        own.ranks.emplace_back(tensor.id, copied ? -1 : shared_rank(shape, index, loop));
        own.written_below.push_back(local.is_output);
      }
    }
  }
  spine.stop_before = compatibility.stop_before;
  spine.continues_recurrence = shape.recurrence.continues;
  spine.recurrence_goes_on = shape.recurrence.goes_on;
  return spine;
}

const LiveTensor* find_live(const Spine& spine, TensorId id) {
  for (const LiveTensor& tensor : spine.live)
    if (tensor.id == id) return &tensor;
  return nullptr;
}

namespace {

/// A tensor that the next Einsum sees first, its origin traced back through those alive before.
LiveTensor traced_back(LiveTensor tensor, const std::vector<LiveTensor>& before) {
  for (const LiveTensor& origin : before) {
    if (origin.id != tensor.origin || origin.component != tensor.component) continue;
    tensor.origin = origin.origin;
    tensor.copies += origin.copies;
    break;
  }
  return tensor;
}

}  // namespace

std::vector<LiveTensor> alive_during(const Spine& prefix, const Spine& next) {
  std::vector<LiveTensor> alive = prefix.live;
  for (const LiveTensor& tensor : next.live)
    if (find_live(prefix, tensor.id) == nullptr) alive.push_back(traced_back(tensor, prefix.live));
  std::sort(alive.begin(), alive.end(),
            [](const LiveTensor& a, const LiveTensor& b) { return a.id < b.id; });
  return alive;
}

namespace {

/// The joined loop that carries a tensor, as prefix or next know it; or -1.
std::int32_t joined_carrier(TensorId id, const Spine& prefix, const Spine& next,
                            const Match& match) {
  const LiveTensor* const mine = find_live(prefix, id);
  const LiveTensor* const theirs = find_live(next, id);
  for (std::size_t i = 0; i < match.loops.size(); ++i) {
    const auto [left, right] = match.loops[i];
    if ((mine != nullptr && mine->carried_by >= 0 && mine->carried_by == left) ||
        (theirs != nullptr && theirs->carried_by >= 0 && theirs->carried_by == right))
      return static_cast<std::int32_t>(i);
  }
  return -1;
}

}  // namespace

std::uint32_t reserved_level(const LiveTensor& tensor, const Spine& prefix, const Spine& next,
                             const Match& match) {
  const std::int32_t carrier = joined_carrier(tensor.id, prefix, next, match);
  if (carrier < 0) return tensor.level;
  auto level = static_cast<std::size_t>(carrier);
  while (level > 0 && !match.stop_before[level]) --level;
  return static_cast<std::uint32_t>(level);
}

bool shares_reservation(const LiveTensor& holder, const LiveTensor& tensor) {
  return holder.component == tensor.component && holder.persistent == tensor.persistent &&
         holder.origin == tensor.origin &&
         std::tuple(holder.level, holder.copies, holder.id) <
             std::tuple(tensor.level, tensor.copies, tensor.id);
}

std::vector<Stay> stays_after(const std::vector<LiveTensor>& alive,
                              const std::vector<std::size_t>& last_use, std::size_t einsum) {
  const auto is_needed = [&](const LiveTensor& tensor) {
    return last_use[tensor.id.index()] > einsum;
  };
  std::vector<Stay> result;
  for (const LiveTensor& tensor : alive) {
    const bool gives_room = std::any_of(alive.begin(), alive.end(), [&](const LiveTensor& other) {
      return is_needed(other) && other.level > tensor.level && shares_reservation(tensor, other);
    });
    result.push_back(is_needed(tensor) ? Stay::kNeeded : gives_room ? Stay::kForRoom : Stay::kNo);
  }
  return result;
}

std::int32_t rank_of(const SpineLoop& loop, TensorId tensor) {
  for (const auto& [id, rank] : loop.ranks)
    if (id == tensor) return rank;
  return -1;
}

std::vector<std::int64_t> sort_key(const SpineLoop& loop) {
  std::vector<std::int64_t> key{loop.spatial, static_cast<std::int64_t>(loop.component.index()),
                                loop.dimension, loop.trips, loop.tile};
  append_structure(loop, &key);
  return key;
}

void append_structure(const SpineLoop& loop, std::vector<std::int64_t>* key) {
  for (const auto& [id, rank] : loop.ranks) key->push_back(rank);
  key->insert(key->end(), loop.written_below.begin(), loop.written_below.end());
  key->insert(key->end(), loop.parts.begin(), loop.parts.end());
  key->insert(key->end(), {loop.steps, loop.recurrence_part});
}

namespace {

/// The joined loop as the live tensors see it.
SpineLoop join_loop(const SpineLoop* left, const SpineLoop* right,
                    const std::vector<LiveTensor>& live) {
  SpineLoop loop = left != nullptr ? *left : *right;
  loop.steps = loop.steps || (right != nullptr && right->steps);
  std::vector<std::pair<TensorId, std::int32_t>> ranks;
  std::vector<bool> written_below;
  for (const LiveTensor& tensor : live) {
    std::int32_t rank = -1;
    bool written = false;
    for (const SpineLoop* from : {left, right}) {
      if (from == nullptr) continue;
      for (std::size_t i = 0; i < from->ranks.size(); ++i) {
        if (from->ranks[i].first != tensor.id) continue;
        // Makers of parts that walk different ranks: who reads them stands below no such loop.
        const bool differ = written && from->written_below[i] && rank != from->ranks[i].second;
        rank = differ ? -1 : from->ranks[i].second;
        written = written || from->written_below[i];
      }
    }
    ranks.emplace_back(tensor.id, rank);
    written_below.push_back(written);
  }
  loop.ranks = std::move(ranks);
  loop.written_below = std::move(written_below);
  return loop;
}

bool is_over_steps(const Spine& prefix, std::int32_t left, const Spine& next, std::size_t right) {
  return next.loops[right].steps ||
         (left >= 0 && prefix.loops[static_cast<std::size_t>(left)].steps);
}

/// The joined loop over the steps of a recurrence that goes on, if there is one.
std::optional<std::size_t> steps_that_go_on(const Spine& prefix, const Spine& next,
                                            const Match& match) {
  for (std::size_t i = 0; i < match.loops.size() && next.recurrence_goes_on; ++i) {
    const auto [left, right] = match.loops[i];
    if (right >= 0 && is_over_steps(prefix, left, next, static_cast<std::size_t>(right))) return i;
  }
  return std::nullopt;
}

/// Connected parts of the tensors under a joined loop: the next Einsum's own ones become one part
/// with every part that it touches. Under a loop over steps, and those above it, the Einsums of a
/// recurrence (`goes_on`: there are more) are one part, too. False: a part can no longer be reached
/// by a later Einsum although others are left.
bool join_parts(const Spine& prefix, std::int32_t left, const Spine& next, std::size_t right,
                bool goes_on, const std::vector<LiveTensor>& live, std::vector<std::int32_t>* parts,
                std::int32_t* recurrence_part) {
  std::vector<std::pair<TensorId, std::int32_t>> members;  // tensor, part; the next Einsum's: 0
  for (const LiveTensor& tensor : next.live)
    if (!tensor.persistent && tensor.level > right) members.emplace_back(tensor.id, 0);
  std::int32_t n_parts = 1;
  if (left >= 0) {
    const SpineLoop& loop = prefix.loops[static_cast<std::size_t>(left)];
    std::vector<std::int32_t> renamed;  // per old part
    for (std::size_t i = 0; i < loop.parts.size(); ++i) {
      if (loop.parts[i] < 0) continue;
      const auto part = static_cast<std::size_t>(loop.parts[i]);
      if (renamed.size() <= part) renamed.resize(part + 1, -1);
      const bool mine = std::any_of(members.begin(), members.end(), [&](const auto& m) {
        return m.first == loop.ranks[i].first && m.second == 0;
      });
      if (mine) renamed[part] = 0;
    }
    if (const std::int32_t part = loop.recurrence_part; part >= 0) {
      if (renamed.size() <= static_cast<std::size_t>(part))
        renamed.resize(static_cast<std::size_t>(part) + 1, -1);
      if (next.continues_recurrence) renamed[static_cast<std::size_t>(part)] = 0;
    }
    for (std::int32_t& part : renamed)
      if (part < 0) part = n_parts++;
    for (std::size_t i = 0; i < loop.parts.size(); ++i)
      if (loop.parts[i] >= 0)
        members.emplace_back(loop.ranks[i].first, renamed[static_cast<std::size_t>(loop.parts[i])]);
  }
  std::vector<std::int32_t> number(static_cast<std::size_t>(n_parts), -1);
  std::int32_t reachable = 0;
  for (const LiveTensor& tensor : live) {
    std::int32_t part = -1;
    for (const auto& [id, p] : members)
      if (id == tensor.id) part = p;
    if (part >= 0 && number[static_cast<std::size_t>(part)] < 0)
      number[static_cast<std::size_t>(part)] = reachable++;
    parts->push_back(part < 0 ? -1 : number[static_cast<std::size_t>(part)]);
  }
  *recurrence_part = -1;
  if (goes_on) {
    if (number[0] < 0) number[0] = reachable++;
    *recurrence_part = number[0];
  }
  return n_parts == 1 || reachable == n_parts;
}

}  // namespace

namespace {

/// Puts the numbers of the loops [first, last) into the order of their keys; whether any moved.
bool sort_loops(const std::vector<SpineLoop>& loops, std::size_t first, std::size_t last,
                std::vector<std::size_t>* from) {
  std::vector<std::vector<std::int64_t>> keys;
  for (std::size_t l = first; l < last; ++l) keys.push_back(sort_key(loops[l]));
  if (std::is_sorted(keys.begin(), keys.end())) return false;
  std::stable_sort(from->begin() + static_cast<std::ptrdiff_t>(first),
                   from->begin() + static_cast<std::ptrdiff_t>(last),
                   [&](std::size_t a, std::size_t b) { return keys[a - first] < keys[b - first]; });
  return true;
}

}  // namespace

JoinedSpine join_spines(const Spine& prefix, const Spine& next, const Match& match,
                        const std::vector<std::size_t>& last_use, std::size_t einsum) {
  JoinedSpine result;
  std::size_t depth = 0;
  const std::vector<LiveTensor> alive = alive_during(prefix, next);
  const std::vector<Stay> stays = stays_after(alive, last_use, einsum);
  for (const Stay stay : {Stay::kNeeded, Stay::kForRoom})
    for (std::size_t i = 0; i < alive.size(); ++i)
      if (stays[i] == stay) result.spine.live.push_back(alive[i]);
  for (const LiveTensor& tensor : result.spine.live)
    if (!tensor.persistent) depth = std::max<std::size_t>(depth, tensor.level);
  const std::optional<std::size_t> steps = steps_that_go_on(prefix, next, match);
  if (next.recurrence_goes_on && !match.loops.empty())
    depth = std::max(depth, steps.value_or(0) + 1);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto [left, right] = match.loops[i];
    result.spine.loops.push_back(join_loop(
        left < 0 ? nullptr : &prefix.loops[static_cast<std::size_t>(left)],
        right < 0 ? nullptr : &next.loops[static_cast<std::size_t>(right)], result.spine.live));
    result.spine.stop_before.push_back(match.stop_before[i]);
  }
  for (std::size_t i = 0; i < match.loops.size(); ++i) {
    const auto [left, right] = match.loops[i];
    std::vector<std::int32_t> parts;
    std::int32_t recurrence_part = -1;
    if (right >= 0 &&
        !join_parts(prefix, left, next, static_cast<std::size_t>(right), steps && i <= *steps,
                    result.spine.live, &parts, &recurrence_part))
      result.connected = false;
    if (i >= depth) continue;
    result.spine.loops[i].parts = std::move(parts);
    result.spine.loops[i].recurrence_part = recurrence_part;
  }
  // Loops that may be permuted stand in one order, wherever they came from.
  result.from.resize(depth);
  std::iota(result.from.begin(), result.from.end(), std::size_t{0});
  std::vector<SpineLoop>& loops = result.spine.loops;
  bool is_sorted = true;
  for (std::size_t first = 0; first < depth;) {
    std::size_t last = first + 1;
    while (last < depth && !result.spine.stop_before[last]) ++last;
    if (last > first + 1) is_sorted = !sort_loops(loops, first, last, &result.from) && is_sorted;
    first = last;
  }
  if (!is_sorted) {
    std::vector<SpineLoop> sorted;
    for (const std::size_t from : result.from) sorted.push_back(std::move(loops[from]));
    loops = std::move(sorted);
  }
  for (LiveTensor& tensor : result.spine.live) {
    const std::int32_t carrier = joined_carrier(tensor.id, prefix, next, match);
    tensor.carried_by = -1;
    for (std::size_t i = 0; i < depth && carrier >= 0; ++i)
      if (result.from[i] == static_cast<std::size_t>(carrier))
        tensor.carried_by = static_cast<std::int32_t>(i);
  }
  return result;
}

}  // namespace sluice::fused
