#include <algorithm>

#include "spine.h"

namespace sluice::fused {
namespace {

bool same_extent(const SpineLoop& a, const SpineLoop& b) {
  return a.trips == b.trips && a.tile == b.tile && a.spatial == b.spatial &&
         (!a.spatial || (a.component == b.component && a.dimension == b.dimension));
}

/// Sizes of the sets of outermost loops that nothing may be moved across; the whole is one of them.
std::vector<std::size_t> stops(const Spine& spine) {
  std::vector<std::size_t> result;
  for (std::size_t l = 1; l < spine.loops.size(); ++l)
    if (spine.stop_before[l]) result.push_back(l);
  result.push_back(spine.loops.size());
  return result;
}

class Matcher {
 public:
  Matcher(const Spine& prefix, const Spine& next, const TensorRoles& roles)
      : prefix_(prefix), next_(next), roles_(roles), to_next_(prefix.loops.size(), -1) {}

  std::optional<Match> run() {
    if (next_.loops.size() < prefix_.loops.size()) return std::nullopt;
    if (next_.continues_recurrence && prefix_.loops.empty()) return std::nullopt;
    if (!match_shared_tensors() || !match_uncovered() || !nested()) return std::nullopt;
    return combine();
  }

 private:
  /// The shared tensor under most loops (null: there is none), if all agree on memory and level.
  std::optional<const LiveTensor*> deepest_shared() const {
    const LiveTensor* deepest = nullptr;
    for (const LiveTensor& mine : next_.live) {
      const LiveTensor* other = find_live(prefix_, mine.id);
      if (other == nullptr) continue;
      if (other->component != mine.component || other->level != mine.level ||
          other->persistent != mine.persistent || other->kept_by != mine.kept_by)
        return std::nullopt;
      if (deepest == nullptr || mine.level > deepest->level) deepest = &mine;
    }
    return deepest;
  }

  bool match_shared_tensors() {
    const std::optional<const LiveTensor*> deepest = deepest_shared();
    if (!deepest) return false;
    if (*deepest == nullptr) return true;
    covered_ = (*deepest)->level;
    for (std::size_t l = 0; l < covered_; ++l)
      if (!match_loop(l, 0, covered_, *deepest)) return false;
    return shared_tensors_agree();
  }

  bool shared_tensors_agree() const {
    for (const LiveTensor& mine : next_.live) {
      if (find_live(prefix_, mine.id) == nullptr) continue;
      for (std::size_t l = 0; l < mine.level; ++l) {
        const auto r = static_cast<std::size_t>(to_next_[l]);
        if (r >= mine.level ||
            rank_of(prefix_.loops[l], mine.id) != rank_of(next_.loops[r], mine.id))
          return false;
      }
    }
    return true;
  }

  bool match_loop(std::size_t l, std::size_t first, std::size_t last, const LiveTensor* tensor) {
    const auto own = class_of(prefix_.loops[l]);
    std::optional<std::size_t> best;
    int best_likeness = -1;
    for (std::size_t r = first; r < last; ++r) {
      if (!may_match(l, r, tensor)) continue;
      const auto theirs = class_of(next_.loops[r]);
      const int likeness = !own || !theirs ? 1 : *own == *theirs ? 2 : 0;
      if (likeness <= best_likeness) continue;
      best_likeness = likeness;
      best = r;
    }
    if (best) to_next_[l] = static_cast<std::int32_t>(*best);
    return best.has_value();
  }

  /// Of the rank that a loop walks (TensorRoles::rank_classes); nothing where none of its tensors
  /// says, as of diagonals.
  std::optional<std::uint32_t> class_of(const SpineLoop& loop) const {
    for (const auto& [tensor, rank] : loop.ranks)
      if (const auto& classes = roles_.rank_classes[tensor.index()];
          rank >= 0 && static_cast<std::size_t>(rank) < classes.size())
        return classes[static_cast<std::size_t>(rank)];
    return std::nullopt;
  }

  bool may_match(std::size_t l, std::size_t r, const LiveTensor* tensor) const {
    return std::find(to_next_.begin(), to_next_.end(), static_cast<std::int32_t>(r)) ==
               to_next_.end() &&
           same_extent(prefix_.loops[l], next_.loops[r]) &&
           (!next_.continues_recurrence || !prefix_.loops[l].steps || !steps_elsewhere(r)) &&
           (tensor == nullptr ||
            rank_of(prefix_.loops[l], tensor->id) == rank_of(next_.loops[r], tensor->id)) &&
           reads_what_is_written(prefix_.loops[l], next_.loops[r]);
  }

  /// Whether the next Einsum takes its steps in another loop.
  bool steps_elsewhere(std::size_t r) const {
    return !next_.loops[r].steps && std::any_of(next_.loops.begin(), next_.loops.end(),
                                                [](const SpineLoop& loop) { return loop.steps; });
  }

  /// A tensor that is written under a loop is complete only after it: the next Einsum may read it
  /// there only slice by slice.
  bool reads_what_is_written(const SpineLoop& mine, const SpineLoop& theirs) const {
    for (std::size_t i = 0; i < mine.ranks.size(); ++i) {
      const auto [tensor, rank] = mine.ranks[i];
      if (!mine.written_below[i] || find_live(next_, tensor) == nullptr) continue;
      if (makes_another_part(theirs, tensor)) continue;
      if (rank < 0 || rank != rank_of(theirs, tensor)) return false;
    }
    // In a recurrence a reader may come first; of a copy above the steps it would read old slices.
    for (std::size_t i = 0; next_.continues_recurrence && i < theirs.ranks.size(); ++i) {
      const auto [tensor, rank] = theirs.ranks[i];
      if (!theirs.written_below[i] || find_live(prefix_, tensor) == nullptr) continue;
      if (rank < 0 || rank != rank_of(mine, tensor)) return false;
    }
    return true;
  }

  /// Whether the next Einsum writes a tensor that the prefix writes, too.
  static bool makes_another_part(const SpineLoop& theirs, TensorId tensor) {
    for (std::size_t i = 0; i < theirs.ranks.size(); ++i)
      if (theirs.ranks[i].first == tensor) return theirs.written_below[i];
    return false;
  }

  /// Loops above live tensors that the next Einsum does not use: it must stand under them too.
  bool match_uncovered() {
    for (std::size_t l = covered_; l < prefix_.loops.size(); ++l)
      if (!match_loop(l, covered_, next_.loops.size(), nullptr)) return false;
    return true;
  }

  /// Whether some order of the loops respects the stops of both sides.
  bool nested() const {
    for (std::size_t p : stops(prefix_)) {
      for (std::size_t q : stops(next_)) {
        std::size_t common = 0;
        for (std::size_t l = 0; l < p; ++l) common += static_cast<std::size_t>(to_next_[l]) < q;
        if (common != std::min(p, q)) return false;
      }
    }
    return true;
  }

  std::optional<Match> combine() const {
    const std::vector<std::size_t> mine = stops(prefix_), theirs = stops(next_);
    struct Entry {
      std::size_t set;  // size of the smallest closed set that holds the loop
      std::int32_t left, right;
      bool steps = false;  // stands first where it may
    };
    std::vector<Entry> entries;
    const auto smallest = [](const std::vector<std::size_t>& sizes, std::size_t position) {
      return *std::upper_bound(sizes.begin(), sizes.end(), position);
    };
    for (std::size_t l = 0; l < prefix_.loops.size(); ++l) {
      const auto r = static_cast<std::size_t>(to_next_[l]);
      entries.push_back({std::min(smallest(mine, l), smallest(theirs, r)),
                         static_cast<std::int32_t>(l), to_next_[l],
                         prefix_.loops[l].steps || next_.loops[r].steps});
    }
    for (std::size_t r = 0; r < next_.loops.size(); ++r)
      if (std::find(to_next_.begin(), to_next_.end(), static_cast<std::int32_t>(r)) ==
          to_next_.end())
        entries.push_back({std::max(smallest(theirs, r), prefix_.loops.size() + 1), -1,
                           static_cast<std::int32_t>(r), next_.loops[r].steps});
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.set != b.set ? a.set < b.set : a.steps && !b.steps;
    });
    Match match;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      match.loops.emplace_back(entries[i].left, entries[i].right);
      const bool stop = std::find(mine.begin(), mine.end(), i) != mine.end() ||
                        std::find(theirs.begin(), theirs.end(), i) != theirs.end();
      match.stop_before.push_back(i == 0 || stop);
    }
    return match;
  }

  const Spine& prefix_;
  const Spine& next_;
  const TensorRoles& roles_;
  std::size_t covered_ = 0;
  std::vector<std::int32_t> to_next_;
};

}  // namespace

std::optional<Match> match_spines(const Spine& prefix, const Spine& next,
                                  const TensorRoles& roles) {
  return Matcher(prefix, next, roles).run();
}

}  // namespace sluice::fused
