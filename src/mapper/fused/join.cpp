#include "join.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "front.h"
#include "prefix.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Joins the Einsums one by one, keeping per compatibility the partial mappings worth completing.
class Joiner {
 public:
  explicit Joiner(const JoinContext& context) : context_(context) {
    const std::size_t n = context.tables.size();
    last_use_.assign(context.problem->workload.tensors.size(), 0);
    for (std::size_t e = 0; e < n; ++e)
      for (const LocalTensor& tensor : context.shapes[e]->tensors) last_use_[tensor.id.index()] = e;
    least_energy_.assign(n + 1, 0);
    least_latency_.assign(n + 1, 0);
    for (std::size_t e = n; e-- > 0;) {
      double energy = std::numeric_limits<double>::infinity(), latency = energy;
      for (const PmappingGroup& group : context.tables[e]->groups) {
        for (std::size_t i = 0; i < group.size(); ++i) {
          energy = std::min(energy, group.value(i)[0]);
          latency = std::min(latency, group.value(i)[1]);
        }
      }
      least_energy_[e] = least_energy_[e + 1] + energy;
      least_latency_[e] = least_latency_[e + 1] + latency;
    }
  }

  JoinResult run() {
    prefixes_ = {PrefixGroup::empty(context_.tracked->size())};
    for (std::size_t e = 0; e < context_.tables.size(); ++e) {
      if (context_.cancel != nullptr && context_.cancel->load()) return std::move(result_);
      if (!join_next(e)) {
        result_.failed_at = context_.shapes[e]->einsum;
        return std::move(result_);
      }
      if (context_.progress) context_.progress(e);
    }
    collect();
    return std::move(result_);
  }

 private:
  using Signature = std::vector<std::int64_t>;

  /// What both sides must agree on, from the tensors that they share.
  static Signature signature(const Spine& spine, const std::set<TensorId>& shared) {
    Signature result;
    for (const LiveTensor& tensor : spine.live) {
      if (shared.count(tensor.id) == 0) continue;
      result.push_back(static_cast<std::int64_t>(tensor.id.index()));
      result.push_back(static_cast<std::int64_t>(tensor.component.index()));
      result.push_back(tensor.persistent ? -1 : static_cast<std::int64_t>(tensor.level));
      std::vector<Signature> loops;
      for (std::size_t l = 0; l < tensor.level; ++l) {
        const SpineLoop& loop = spine.loops[l];
        std::int32_t rank = -1;
        for (const auto& [id, r] : loop.ranks)
          if (id == tensor.id) rank = r;
        loops.push_back({rank, loop.tile, loop.trips, loop.spatial});
      }
      std::sort(loops.begin(), loops.end());
      for (const Signature& loop : loops) result.insert(result.end(), loop.begin(), loop.end());
    }
    return result;
  }

  bool join_next(std::size_t e) {
    const std::vector<NextGroup> next = next_groups(*context_.shapes[e], *context_.tables[e]);
    std::set<TensorId> shared;
    for (const LiveTensor& tensor : prefixes_.front().spine.live)
      for (const LocalTensor& mine : context_.shapes[e]->tensors)
        if (mine.id == tensor.id) shared.insert(tensor.id);
    std::map<Signature, std::vector<std::uint32_t>> index;
    for (std::uint32_t g = 0; g < next.size(); ++g)
      index[signature(next[g].spine, shared)].push_back(g);

    SearchBound bound = context_.bound;
    bound.other_energy = least_energy_[e + 1];
    bound.other_latency = least_latency_[e + 1];
    PrefixBuilder builder(*context_.tracked, bound, last_use_, e, criteria_options());
    history_.emplace_back();
    for (std::uint32_t p = 0; p < prefixes_.size(); ++p) {
      const auto candidates = index.find(signature(prefixes_[p].spine, shared));
      if (candidates == index.end()) continue;
      for (std::uint32_t g : candidates->second) {
        if (bound.hopeless(prefixes_[p].least_energy + next[g].least_energy,
                           prefixes_[p].least_latency + next[g].least_latency))
          continue;
        const std::optional<Match> match = match_spines(prefixes_[p].spine, next[g].spine);
        if (match) builder.join(prefixes_[p], next[g], g, *match, *context_.shapes[e]);
      }
    }
    result_.joined += builder.pairs();
    prefixes_ = builder.take(&history_.back());
    if (context_.beam > 0) keep_best_groups(bound);
    for (const PrefixGroup& group : prefixes_)
      result_.largest_front = std::max(result_.largest_front, group.size());
    if (!prefixes_.empty()) return true;
    if (builder.closest_memory()) {
      result_.memory = builder.closest_memory();
      result_.excess_bits = builder.closest_excess();
    }
    return false;
  }

  /// A scout follows few compatibilities: the most promising ones, and those without open loops,
  /// which everything can follow.
  void keep_best_groups(const SearchBound& bound) {
    constexpr std::size_t kGroups = 64;
    if (prefixes_.size() <= kGroups) return;
    std::stable_sort(prefixes_.begin(), prefixes_.end(),
                     [&](const PrefixGroup& a, const PrefixGroup& b) {
                       return bound.value(a.least_energy, a.least_latency) <
                              bound.value(b.least_energy, b.least_latency);
                     });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < prefixes_.size(); ++i)
      if (i < kGroups || (prefixes_[i].depth() == 0 && kept < 2 * kGroups))
        std::swap(prefixes_[kept++], prefixes_[i]);
    prefixes_.resize(kept);
  }

  FrontOptions criteria_options() const {
    FrontOptions options;
    options.objectives = context_.options->objectives;
    options.dominance = context_.options->pruning.dominance;
    options.convex_hull = context_.options->pruning.convex_hull && context_.options->top == 1 &&
                          !context_.options->resource_usage;
    options.beam = context_.beam;
    return options;
  }

  void collect() {
    SLUICE_CHECK(prefixes_.size() == 1, "all complete mappings share the empty compatibility");
    const PrefixGroup& group = prefixes_.front();
    for (std::size_t i = 0; i < group.size(); ++i) {
      JoinedMapping mapping;
      mapping.energy = group.value(i)[0];
      mapping.latency = group.value(i)[1];
      for (std::size_t m = 0; m < context_.tracked->size(); ++m)
        mapping.peaks.push_back(group.peak(i, m));
      mapping.chosen.resize(context_.tables.size());
      std::uint32_t at = group.history[i];
      for (std::size_t e = context_.tables.size(); e-- > 0;) {
        const JoinStep& step = history_[e][at];
        mapping.chosen[e] = step.chosen;
        at = step.previous;
      }
      result_.mappings.push_back(std::move(mapping));
    }
  }

  const JoinContext& context_;
  std::vector<std::size_t> last_use_;
  std::vector<double> least_energy_, least_latency_;  // of Einsums e… together
  std::vector<PrefixGroup> prefixes_;
  std::vector<std::vector<JoinStep>> history_;
  JoinResult result_;
};

}  // namespace

std::vector<NextGroup> next_groups(const EinsumShape& shape, const PmappingTable& table) {
  std::vector<NextGroup> result;
  for (const PmappingGroup& group : table.groups) {
    NextGroup next;
    next.group = &group;
    next.least_energy = next.least_latency = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < group.size(); ++i) {
      next.least_energy = std::min(next.least_energy, group.value(i)[0]);
      next.least_latency = std::min(next.least_latency, group.value(i)[1]);
    }
    for (const Backing& backing : group.compatibility.backings)
      next.spine.live.push_back({shape.tensors[backing.tensor].id, backing.component, backing.level,
                                 backing.bits, backing.persistent});
    std::sort(next.spine.live.begin(), next.spine.live.end(),
              [](const LiveTensor& a, const LiveTensor& b) { return a.id < b.id; });
    for (const FusedLoop& loop : group.compatibility.loops) {
      SpineLoop spine{
          loop.spatial, loop.component, loop.dimension, loop.trips, loop.tile, {}, {}, {}};
      for (const LiveTensor& tensor : next.spine.live) {
        for (const LocalTensor& local : shape.tensors) {
          if (local.id != tensor.id) continue;
          spine.ranks.emplace_back(tensor.id, shape.shared_rank(&local - shape.tensors.data(),
                                                                loop.variable, loop.spatial));
          spine.written_below.push_back(local.is_output);
        }
      }
      next.spine.loops.push_back(std::move(spine));
    }
    next.spine.stop_before = group.compatibility.stop_before;
    next.spine.continues_recurrence = shape.recurrence.continues;
    result.push_back(std::move(next));
  }
  return result;
}

JoinResult join_pmappings(const JoinContext& context) { return Joiner(context).run(); }

}  // namespace sluice::fused
