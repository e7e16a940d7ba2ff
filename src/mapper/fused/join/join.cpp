#include "join.h"

#include <algorithm>
#include <map>

#include "mapper/common/parallel.h"
#include "mapper/common/pool.h"
#include "mapper/common/rounding.h"
#include "mapper/fused/tiles/front.h"
#include "prefix.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Joins the Einsums one by one, keeping per spine the partial mappings worth completing.
class Joiner {
 public:
  explicit Joiner(const JoinContext& context)
      : context_(context),
        bound_(context.bound),
        edges_(context.graph->edges),
        next_(context.tables.size()),
        nothing_(spines_.compact(Spine{})),
        planners_([this] {
          return std::make_unique<JoinPlanner>(&spines_, *context_.tracked, context_.graph->uses);
        }) {
    find_hulls();
    find_persistent();
    bound_completions();
  }

  /// With a beam first, if the context has one for scouting: what it finds bounds the rest.
  JoinResult run() {
    std::optional<JoinedMapping> seen;
    // A wide beam costs little beside the exact join, and each better bound saves much of that.
    for (std::size_t wide : {1, 8}) {
      if (context_.scout_beam == 0) break;
      beam_ = context_.scout_beam * wide;
      for (JoinedMapping& mapping : join_all().mappings) {
        const double value = objective_value(bound_.objective, mapping.energy, mapping.latency);
        const double limit = value * kAboveRounding / (1 + context_.epsilon);
        if (bound_.active && limit >= bound_.limit) continue;
        bound_.limit = limit;
        bound_.active = true;
        if (context_.found) context_.found(mapping);
        if (context_.epsilon > 0 || limit > context_.exact_below) seen = std::move(mapping);
      }
    }
    bound_.limit = std::min(bound_.limit, context_.exact_below);
    beam_ = context_.beam;
    JoinResult result = beam_ == 0 && knows_held() ? join_exactly() : join_all();
    if (bound_.active) result.searched_below = bound_.limit;
    if (seen) {  // nothing that matters may be better
      result.mappings.push_back(std::move(*seen));
      result.failed_at.reset();
    }
    return result;
  }

 private:
  JoinResult join_all() {
    result_ = {};
    pairs_ = 0;
    history_.clear();
    prefixes_ = {PrefixGroup::empty(nothing_, context_.tracked->size())};
    for (std::size_t e = 0; e < context_.tables.size(); ++e) {
      if (is_cancelled(context_.cancel)) return std::move(result_);
      result_.memory.reset();
      if (!join_next(e)) {
        result_.failed_at = context_.shapes[e]->einsum;
        return std::move(result_);
      }
      if (context_.progress) context_.progress(e);
    }
    if (is_cancelled(context_.cancel)) return std::move(result_);  // perhaps within the last one
    collect();
    return std::move(result_);
  }

  void find_hulls() {
    for (const PmappingTable* table : context_.tables) {
      const auto [at, is_new] = hulls_of_table_.try_emplace(table);
      if (is_new)
        for (const PmappingGroup& group : table->groups) at->second.push_back(hull_of(group));
      group_hulls_.push_back(&at->second);
    }
  }

  /// Per Einsum and tracked memory: whether a later Einsum may hold something for the whole run.
  void find_persistent() {
    const std::size_t n = context_.tables.size(), tracked = context_.tracked->size();
    persistent_after_.assign(n, std::vector<char>(tracked, 0));
    for (std::size_t e = n; e-- > 1;) {
      persistent_after_[e - 1] = persistent_after_[e];
      for (const PmappingGroup& group : context_.tables[e]->groups) {
        for (std::size_t m = 0; m < tracked; ++m) {
          char& later = persistent_after_[e - 1][m];
          for (std::size_t i = 0; i < group.size() && later == 0; ++i)
            later = group.value(i)[group.stride - tracked + m] > 0;
          for (const Backing& backing : group.compatibility->backings)
            if (backing.persistent && backing.component == (*context_.tracked)[m].component)
              later = 1;
        }
      }
    }
  }

  /// What completing a mapping from each spine costs at least, capacities aside, from the last
  /// Einsum backwards; edges that lead nowhere are dropped.
  void bound_completions() {
    constexpr std::size_t kCorners = 12;
    const std::size_t n = context_.tables.size();
    completions_.resize(n + 1);
    completions_[n].assign(context_.graph->n_spines[n], {{0, 0}});
    for (std::size_t e = n; e-- > 0;) {
      std::vector<std::vector<EnergyLatency>> points(context_.graph->n_spines[e]);
      std::vector<ExchangeEdge>& edges = edges_[e];
      std::erase_if(edges,
                    [&](const ExchangeEdge& edge) { return completions_[e + 1][edge.to].empty(); });
      for (const ExchangeEdge& edge : edges) {
        const LowerHull both = sum((*group_hulls_[e])[edge.group], completions_[e + 1][edge.to]);
        points[edge.from].insert(points[edge.from].end(), both.begin(), both.end());
      }
      for (std::vector<EnergyLatency>& of_spine : points)
        completions_[e].push_back(coarser(lower_hull(std::move(of_spine)), kCorners));
    }
  }

  /// Whether there is something to beat, and something to hold.
  bool knows_held() const {
    return context_.options->pruning.held_bounds && bound_.active && !context_.tracked->empty() &&
           !completions_.front().front().empty();
  }

  /// Bounds that know what earlier Einsums hold take a moment for every edge: where these are many,
  /// first without.
  JoinResult join_exactly() {
    constexpr std::size_t kFewEdges = 2000;
    const std::size_t n_edges = count_edges(edges_);
    if (n_edges > kFewEdges) {
      most_pairs_ = n_edges;
      JoinResult result = join_all();
      most_pairs_ = std::numeric_limits<std::size_t>::max();
      if (pairs_ <= n_edges || is_cancelled(context_.cancel)) return result;
    }
    const auto value = [&](const EnergyLatency& point) {
      return objective_value(bound_.objective, point.energy, point.latency);
    };
    const LowerHull& all = completions_.front().front();
    const EnergyLatency& near = *std::min_element(
        all.begin(), all.end(),
        [&](const EnergyLatency& a, const EnergyLatency& b) { return value(a) < value(b); });
    if (near.energy > 0 && near.latency > 0) {
      for (std::size_t e = 0; e < edges_.size(); ++e) next_groups(e, edges_[e]);
      held_.emplace(context_, edges_, next_, nothing_, &planners_, near);
    }
    return join_all();
  }

  /// What joining Einsum e makes of one spine.
  struct Joined {
    PrefixGroup group;
    std::vector<JoinStep> steps;
    double pairs = 0;
    std::optional<ComponentId> closest_memory;
    double closest_excess = 0;
  };

  bool join_next(std::size_t e) {
    const std::vector<ExchangeEdge> edges = edges_of_prefixes(e);
    const std::vector<NextGroup>& next = next_groups(e, edges);
    // Threads take the spines that result, and go through the edges of each in their order.
    std::vector<std::uint32_t> nodes;  // in order of appearance
    std::vector<std::vector<std::uint32_t>> edges_to(context_.graph->n_spines[e + 1]);
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      if (edges_to[edges[i].to].empty()) nodes.push_back(edges[i].to);
      edges_to[edges[i].to].push_back(i);
    }
    const JoinStage stage{*context_.tracked,         e,
                          criteria_options(),        persistent_after_[e],
                          held_ ? &*held_ : nullptr, context_.cancel};
    std::vector<Joined> joined(nodes.size());
    parallel_for(context_.options->threads, nodes.size(), [&](std::size_t n) {
      SearchBound bound = bound_;
      bound.others = completions_[e + 1][nodes[n]];
      const auto planner = planners_.borrow();
      PrefixBuilder builder(stage, nodes[n], std::move(bound), &*planner);
      for (std::uint32_t i : edges_to[nodes[n]]) {
        if (is_cancelled(context_.cancel) || pairs_ > most_pairs_) return;
        const double before = builder.pairs();
        builder.join(prefixes_[edges[i].from], next[edges[i].group], edges[i].group);
        pairs_ += static_cast<std::size_t>(builder.pairs() - before);
      }
      joined[n].pairs = builder.pairs();
      joined[n].closest_memory = builder.closest_memory();
      joined[n].closest_excess = builder.closest_excess();
      if (!builder.empty()) joined[n].group = builder.take(&joined[n].steps);
    });
    if (is_cancelled(context_.cancel)) return true;
    if (pairs_ > most_pairs_) return false;
    take_over(std::move(joined));
    if (beam_ > 0) keep_best_groups(e);
    for (const PrefixGroup& group : prefixes_)
      result_.largest_front = std::max(result_.largest_front, group.size());
    return !prefixes_.empty();
  }

  /// The edges from spines that prefixes are left of, `from` as an index of these.
  std::vector<ExchangeEdge> edges_of_prefixes(std::size_t e) const {
    std::vector<std::int64_t> prefix_of(context_.graph->n_spines[e], -1);
    for (std::size_t p = 0; p < prefixes_.size(); ++p)
      prefix_of[prefixes_[p].node] = static_cast<std::int64_t>(p);
    std::vector<ExchangeEdge> edges;
    for (ExchangeEdge edge : edges_[e]) {
      if (prefix_of[edge.from] < 0) continue;
      edge.from = static_cast<std::uint32_t>(prefix_of[edge.from]);
      edges.push_back(edge);
    }
    return edges;
  }

  /// Of each group that an edge takes, what joining asks for.
  const std::vector<NextGroup>& next_groups(std::size_t e, const std::vector<ExchangeEdge>& edges) {
    const std::vector<PmappingGroup>& groups = context_.tables[e]->groups;
    std::vector<NextGroup>& next = next_[e];
    next.resize(groups.size());
    std::vector<std::uint32_t> missing;
    for (const ExchangeEdge& edge : edges) {
      if (next[edge.group].group != nullptr) continue;
      next[edge.group].group = &groups[edge.group];
      missing.push_back(edge.group);
    }
    constexpr std::size_t kAtOnce = 256;
    parallel_chunks(context_.options->threads, missing.size(), kAtOnce,
                    [&](std::size_t first, std::size_t last) {
                      for (std::size_t i = first; i < last; ++i)
                        next[missing[i]].spine = spines_.compact(
                            spine_of(*context_.shapes[e], *groups[missing[i]].compatibility));
                    });
    return next;
  }

  void take_over(std::vector<Joined> joined) {
    prefixes_.clear();
    std::vector<JoinStep>& history = history_.emplace_back();
    for (Joined& spine : joined) {
      result_.joined += spine.pairs;
      if (spine.closest_memory && (!result_.memory || spine.closest_excess < result_.excess_bits)) {
        result_.memory = spine.closest_memory;
        result_.excess_bits = spine.closest_excess;
      }
      if (spine.group.history.empty()) continue;
      for (std::uint32_t& at : spine.group.history)
        at += static_cast<std::uint32_t>(history.size());
      history.insert(history.end(), spine.steps.begin(), spine.steps.end());
      prefixes_.push_back(std::move(spine.group));
    }
  }

  /// A scout follows the most promising spines only.
  void keep_best_groups(std::size_t e) {
    const std::size_t groups = 2 * beam_;
    if (prefixes_.size() <= groups) return;
    std::vector<std::pair<double, std::size_t>> order;
    SearchBound bound = bound_;
    for (std::size_t p = 0; p < prefixes_.size(); ++p) {
      bound.others = completions_[e + 1][prefixes_[p].node];
      double least = bound.value(prefixes_[p].value(0)[0], prefixes_[p].value(0)[1]);
      for (std::size_t i = 1; i < prefixes_[p].size(); ++i)
        least = std::min(least, bound.value(prefixes_[p].value(i)[0], prefixes_[p].value(i)[1]));
      order.emplace_back(least, p);
    }
    std::sort(order.begin(), order.end());
    order.resize(groups);
    std::vector<PrefixGroup> kept;
    for (const auto& [value, p] : order) kept.push_back(std::move(prefixes_[p]));
    prefixes_ = std::move(kept);
  }

  FrontOptions criteria_options() const {
    FrontOptions options = front_options(*context_.options);
    options.beam = beam_;
    options.drop_settled =
        context_.options->pruning.reservation_relevance && !context_.options->resource_usage;
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
  SearchBound bound_;
  std::size_t beam_ = 0;
  std::atomic<std::size_t> pairs_{0};                                 // looked at in this join
  std::size_t most_pairs_ = std::numeric_limits<std::size_t>::max();  // with more it is given up
  std::vector<std::vector<ExchangeEdge>> edges_;     // per Einsum; what is left of the graph's
  std::vector<std::vector<char>> persistent_after_;  // per Einsum and tracked memory
  std::map<const PmappingTable*, std::vector<LowerHull>> hulls_of_table_;  // per group
  std::vector<const std::vector<LowerHull>*> group_hulls_;                 // per Einsum
  std::vector<std::vector<LowerHull>> completions_;  // per layer and spine; empty: impossible
  std::vector<std::vector<NextGroup>> next_;         // per Einsum and group, where known
  SpineTable spines_;
  CompactSpine nothing_;  // the spine before the first Einsum
  Pool<JoinPlanner> planners_;
  std::optional<HeldBounds> held_;  // for the exact join
  std::vector<PrefixGroup> prefixes_;
  std::vector<std::vector<JoinStep>> history_;
  JoinResult result_;
};

}  // namespace

LowerHull hull_of(const PmappingGroup& group) {
  std::vector<EnergyLatency> points;
  for (std::size_t i = 0; i < group.size(); ++i)
    points.push_back({group.value(i)[0], group.value(i)[1]});
  return lower_hull(std::move(points));
}

JoinResult join_pmappings(const JoinContext& context) { return Joiner(context).run(); }

}  // namespace sluice::fused
