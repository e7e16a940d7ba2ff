#include "mapper/strategies/compound_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "mapper/common/contains.h"
#include "mapper/common/dominance.h"
#include "mapper/common/parallel.h"
#include "mapper/compound/cut.h"
#include "mapper/compound/group_constraints.h"
#include "mapper/compound/part_tree.h"
#include "mapper/compound/polish.h"
#include "mapper/request/constraint_check.h"
#include "mapper/request/overridden_rules.h"
#include "mapper/request/refusal.h"
#include "mapper/request/search_space.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/leftovers.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/concurrent_bounds.h"
#include "sluice/model/evaluate.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

using compound::CutMapping;
using compound::Effort;
using compound::SearchedGroup;

constexpr double kMostPriced = 1e5;   ///< partial mappings of a complete search, without a budget
constexpr double kMostProducts = 10;  ///< more of them with whole groups, whose number is not known
constexpr double kMostLikely = 2.4e5;      ///< of all groups, where the search is not complete
constexpr double kLeastLikely = 2e3;       ///< of one of them
constexpr double kFirstLook = 1.0 / 24;    ///< of these, in all groups before the search of any
constexpr double kMostPolished = 3e3;      ///< neighbours of a group's mapping
constexpr std::size_t kPolished = 8;       ///< mappings of a group
constexpr std::size_t kMostHomes = 2;      ///< of an Einsum alone, where it is not complete
constexpr std::size_t kLongestGroup = 16;  ///< Einsums

class CompoundSearch {
 public:
  CompoundSearch(const BoundProblem& problem, const MapperOptions& options,
                 const MapperControl& control)
      : problem_(problem), options_(options), control_(control) {
    std::vector<std::uint32_t> computes(problem.einsums.size(), 0);
    compound::Group everything;
    everything.end = problem.einsums.size();
    homes_ = compound::homes_of(problem, everything, computes,
                                compound::outermost_memory(problem, EinsumId(0), 0));
    if (homes_.size() > kMostHomes) homes_.resize(kMostHomes);
  }

  tl::expected<MapperResult, NoMapping> run() {
    find_groups();
    if (is_cancelled(control_.cancel)) return finish({});
    const double limit = options_.budget_evaluations.value_or(kMostPriced);
    is_complete_ = !is_cut_short_ && count(limit) <= limit;
    if (is_complete_) search(Effort::kAll);
    if (!is_complete_ && !is_cancelled(control_.cancel)) {
      if (!options_.budget_evaluations) search(Effort::kLikely, kFirstLook);
      search(Effort::kLikely);
      polish();
      tell_best();
    }
    return finish(cuts());
  }

 private:
  void find_groups() {
    const std::size_t n = problem_.einsums.size();
    for (std::size_t e = 0; e < n; ++e)
      alone_.push_back(compound::slice_below_frames(problem_, EinsumId(e)));
    is_cut_short_ = n > kLongestGroup;
    for (std::size_t first = 0; first < n; ++first)
      for (std::size_t end = first + 1; end <= std::min(n, first + kLongestGroup); ++end)
        if (auto group = compound::make_group(problem_, options_.constraints, first, end);
            group && compound::may_keep(options_.constraints, problem_, *group))
          groups_.emplace_back().group = std::move(*group);
    parallel_for(options_.threads, groups_.size(), [&](std::size_t g) {
      if (is_cancelled(control_.cancel)) return;
      groups_[g].slice = compound::slice(problem_, groups_[g].group);
      if (has_bounds_)
        groups_[g].bounds = concurrent_bounds(groups_[g].slice, factors_of(options_));
    });
    // Long groups first: what they cost tells which short ones can be left out.
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const auto& a, const auto& b) { return a.group.size() > b.group.size(); });
  }

  compound::GroupProblem problem_of(const SearchedGroup& searched) const {
    return {problem_, searched.group, searched.slice, alone_, homes_};
  }

  /// `share`: of the mappings that a search prices at most.
  compound::GroupLimits limits(Effort effort, double share) const {
    compound::GroupLimits limits;
    limits.effort = effort;
    const auto n_groups = static_cast<double>(groups_.size());
    if (effort == Effort::kLikely)
      limits.most_priced = options_.budget_evaluations
                               ? *options_.budget_evaluations / n_groups
                               : std::max(kLeastLikely, kMostLikely / n_groups);
    else
      limits.most_priced = kMostProducts * options_.budget_evaluations.value_or(kMostPriced);
    limits.most_priced *= share;
    limits.cancel = control_.cancel;
    return limits;
  }

  /// Partial mappings that a complete search would price, as far as `limit`.
  double count(double limit) const {
    double counted = 0;
    for (const SearchedGroup& searched : groups_) {
      compound::GroupLimits own = limits(Effort::kAll, 1);
      own.most_priced = limit - counted + 1;
      own.count_only = true;
      counted += compound::search_group(problem_of(searched), options_, own).priced;
      if (counted > limit) break;
    }
    return counted;
  }

  void search(Effort effort, double share = 1) {
    for (std::size_t begin = 0, end = 0; begin < groups_.size(); begin = end) {
      end = end_of_round(begin);
      const double known = tell_best();
      const std::vector<double> bounds =
          compound::bounds_with(groups_, problem_.einsums.size(), options_, effort);
      parallel_for(options_.threads, end - begin, [&](std::size_t i) {
        if (bounds[begin + i] <= known) search_one(&groups_[begin + i], effort, share);
      });
      if (control_.progress)
        control_.progress("groups of Einsums",
                          static_cast<double>(end) / static_cast<double>(groups_.size()));
    }
    for (const SearchedGroup& searched : groups_) is_complete_ &= searched.result.is_complete;
    tell_best();
  }

  /// Groups of two lengths at a time: what they cost tells which shorter ones can be left out.
  std::size_t end_of_round(std::size_t begin) const {
    std::size_t end = begin;
    for (int length = 0; length < 2 && end < groups_.size(); ++length) {
      const std::size_t size = groups_[end].group.size();
      while (end < groups_.size() && groups_[end].group.size() == size) ++end;
    }
    return end;
  }

  /// Keeps what a search that did not come to its end has found before; after a first look
  /// (`share` < 1) the group counts as not searched.
  void search_one(SearchedGroup* searched, Effort effort, double share) const {
    compound::GroupLimits limits = this->limits(effort, share);
    if (tells() && searched->group.size() == problem_.einsums.size())
      limits.better = [&](const compound::GroupMapping& found) {
        tell(compound::whole_mapping(problem_, {&searched->group}, {found.nodes.get()}));
      };
    compound::GroupResult found = compound::search_group(problem_of(*searched), options_, limits);
    for (compound::GroupMapping& earlier : searched->result.front)
      compound::add_mapping(&found.front, std::move(earlier));
    found.priced += searched->result.priced;
    searched->result = std::move(found);
    if (share == 1) searched->searched = effort;
  }

  /// Looks at neighbours of what was found, for the groups of the best cut and the largest one.
  void polish() {
    if (options_.objectives.size() > 1 || groups_.empty()) return;
    std::vector<const SearchedGroup*> worth_it = {&groups_.front()};
    if (const std::vector<CutMapping> best = cuts(); !best.empty())
      worth_it.insert(worth_it.end(), best.front().groups.begin(), best.front().groups.end());
    parallel_for(options_.threads, groups_.size(), [&](std::size_t g) {
      if (contains(worth_it, static_cast<const SearchedGroup*>(&groups_[g]))) polish(&groups_[g]);
    });
  }

  /// Adds the best neighbours of a group's best mappings, of each way of spreading it one, to its
  /// front.
  void polish(SearchedGroup* searched) const {
    compound::GroupResult& result = searched->result;
    const StorageNode root = compound::root_of(problem_, {&searched->group});
    const Constraints constraints = compound::constraints_on(options_.constraints, searched->group);
    const auto priced = [&](const NodeList& nodes) -> std::optional<compound::PartCost> {
      const Mapping part = compound::list_below_root(root, nodes);
      const auto found =
          compound::price_part(searched->slice, part, options_.policy, compound::Account::kTotals);
      if (!found || !constraint_violations(constraints, searched->slice, part).empty() ||
          compound::most_shared_loops(nodes) > options_.max_fused_loops)
        return std::nullopt;
      return found->cost;
    };
    std::vector<compound::GroupMapping> best;
    for (const auto& [spread, mapping] : result.by_spread) best.push_back(mapping);
    std::stable_sort(best.begin(), best.end(), [this](const auto& a, const auto& b) {
      return worth(a.cost) < worth(b.cost);
    });
    const double most = std::min(kMostPolished, options_.budget_evaluations
                                                    ? *options_.budget_evaluations / kPolished /
                                                          static_cast<double>(groups_.size())
                                                    : kMostPolished);
    for (std::size_t i = 0; i < std::min(best.size(), kPolished); ++i) {
      compound::Polished polished = compound::polish(
          searched->slice, *best[i].nodes,
          [&](const NodeList& nodes) -> compound::Worth {
            const auto cost = priced(nodes);
            return cost ? compound::Worth(worth(*cost)) : std::nullopt;
          },
          most, control_.cancel);
      result.priced += polished.priced;
      if (const auto cost = polished.nodes.empty() ? std::nullopt : priced(polished.nodes))
        compound::add_mapping(&result.front,
                              {*cost, std::make_shared<const NodeList>(std::move(polished.nodes))});
    }
  }

  std::vector<CutMapping> cuts() const {
    return compound::best_cuts(groups_, problem_.einsums.size(), options_, control_.cancel);
  }

  std::vector<double> worth(const compound::PartCost& cost) const {
    return {cost.objective(options_.objectives.front()), cost.total_j(), cost.latency_s()};
  }

  bool is_single() const { return options_.objectives.size() == 1 && options_.top == 1; }
  bool tells() const { return is_single() && control_.incumbent != nullptr; }

  /// The objective of a mapping, which the incumbent may be from now on; nothing if it is illegal.
  std::optional<double> tell(Mapping mapping) const {
    auto cost = evaluate(problem_, mapping, options_.policy);
    if (!cost) return std::nullopt;
    const double objective = objective_value(options_.objectives.front(), *cost);
    if (tells() && constraint_violations(options_.constraints, problem_, mapping).empty()) {
      MappedResult mapped;
      mapped.mapping = std::move(mapping);
      mapped.cost = std::move(*cost);
      control_.incumbent->offer(objective, std::move(mapped));
    }
    return objective;
  }

  /// The objective of the best mapping of the groups searched so far, which it tells; infinite
  /// where fronts are wanted, to which every group may add.
  double tell_best() const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    if (!is_single()) return kNone;
    for (const CutMapping& cut : cuts())
      if (const auto objective = tell(mapping_of(cut))) return *objective;
    return kNone;
  }

  double priced() const {
    double all = 0;
    for (const SearchedGroup& searched : groups_) all += searched.result.priced;
    return all;
  }

  Mapping mapping_of(const CutMapping& cut) const {
    std::vector<const compound::Group*> groups;
    std::vector<const NodeList*> parts;
    for (std::size_t i = 0; i < cut.groups.size(); ++i) {
      groups.push_back(&cut.groups[i]->group);
      parts.push_back(cut.parts[i]->nodes.get());
    }
    return compound::whole_mapping(problem_, groups, parts);
  }

  static bool is_near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
  }

  std::vector<double> objectives_of(const Cost& cost) const {
    std::vector<double> values;
    for (const Objective objective : options_.objectives)
      values.push_back(objective_value(objective, cost));
    return values;
  }

  tl::expected<MapperResult, NoMapping> finish(const std::vector<CutMapping>& cuts) {
    MapperResult result;
    result.cancelled = is_cancelled(control_.cancel);
    const bool is_front = options_.objectives.size() > 1;
    const auto most = static_cast<std::size_t>(options_.top);
    for (const CutMapping& cut : cuts) {
      if (!is_front && result.mappings.size() == most) break;
      MappedResult mapped;
      mapped.mapping = mapping_of(cut);
      auto cost = evaluate(problem_, mapped.mapping, options_.policy);
      if (!cost || !constraint_violations(options_.constraints, problem_, mapped.mapping).empty()) {
        is_complete_ = false;  // what was left out for it might have been legal
        continue;
      }
      // A part alone was priced as something else than in the whole.
      is_complete_ &= is_near(cost->latency_s, cut.cost.latency_s()) &&
                      is_near(cost->energy_j, cut.cost.total_j());
      mapped.cost = std::move(*cost);
      if (is_front)
        add_to_front(&result.mappings, std::move(mapped),
                     [this](const MappedResult& m) { return objectives_of(m.cost); });
      else
        result.mappings.push_back(std::move(mapped));
    }
    if (result.mappings.empty() && !result.cancelled) return tl::make_unexpected(nothing());
    result.guarantee = guarantee(result);
    result.search.seconds = seconds_since(start_);
    result.search.threads = options_.threads;
    result.search.mappings_evaluated = result.search.mappings_considered = priced();
    result.search.distinct_einsums = problem_.einsums.size();
    return result;
  }

  /// Whether parts add up: not where Einsums are repeated in different numbers, or leak at
  /// different rates, or stand in one tile pipeline.
  bool parts_add_up() const {
    if (options_.policy == LatencyPolicy::kPipeline) return false;
    const Workload& workload = problem_.workload;
    for (const Einsum& einsum : workload.einsums)
      if (einsum.n_instances != workload.einsums.front().n_instances) return false;
    return std::none_of(problem_.arch.components.begin(), problem_.arch.components.end(),
                        [](const Component& c) { return c.power_gated && c.leak_power_w > 0; });
  }

  Guarantee guarantee(const MapperResult& result) const {
    Guarantee guarantee;
    guarantee.space = fmt::format("groups of consecutive Einsums with collectives, policy {}",
                                  options_.policy.name());
    if (options_.max_fused_loops != kUnlimitedLoops)
      guarantee.space += fmt::format(", max_fused_loops={}", options_.max_fused_loops);
    if (options_.imperfect_factors != ImperfectFactors::kNone)
      guarantee.space += ", imperfect factors of loops that no other Einsum shares";
    if (options_.constraints != Constraints{}) guarantee.space += ", within the constraints";
    guarantee.leaves_out = left_out(SearchSpace::kGroups, problem_, options_);
    if (options_.top > 1) guarantee.space += "; of several mappings the first alone";
    if (!result.cancelled && is_complete_ && parts_add_up()) {
      guarantee.kind = GuaranteeKind::kOptimal;
      return guarantee;
    }
    if (!has_bounds_) return guarantee;
    guarantee.kind = GuaranteeKind::kGap;
    // Whoever cancelled it knows a bound; that of tiles takes a while.
    const CostBounds bounds = result.cancelled ? concurrent_bounds(problem_)
                                               : concurrent_bounds(problem_, factors_of(options_));
    guarantee.bound = objective_bound(options_.objectives.front(), bounds);
    return guarantee;
  }

  std::string constraint_names() const {
    std::string names;
    const auto add = [&names](const auto& list) {
      for (const auto& c : list) names += (names.empty() ? "" : ", ") + c.name;
    };
    const Constraints& all = options_.constraints;
    add(all.storage), add(all.tiles), add(all.spatial), add(all.fusion);
    add(all.loop_orders), add(all.schedules), add(all.collectives);
    return names;
  }

  NoMapping nothing() const {
    NoMapping no;
    // Of collectives it knows some.
    no.proven = is_complete_ && options_.constraints.collectives.empty();
    for (const SearchedGroup& searched : groups_) {
      if (searched.group.size() != 1 || !searched.result.front.empty()) continue;
      no.einsum = searched.group.einsum(0);
      no.reason = fmt::format("none of {:.0f} mappings of the Einsum {} alone is legal",
                              searched.result.priced, problem_.workload[*no.einsum].name);
    }
    const std::string constraints = constraint_names();
    if (!constraints.empty()) {
      no.reason = fmt::format("none of {:.0f} mappings that were tried keeps all constraints ({})",
                              priced(), constraints);
      no.nearest_relaxation = "leave out or loosen one of " + constraints;
      return no;
    }
    if (no.reason.empty())
      no.reason = fmt::format("none of {:.0f} mappings that were tried is legal", priced());
    no.nearest_relaxation =
        "larger memories, fewer constraints, or another --mapper (its space is another)";
    return no;
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const BoundProblem& problem_;
  const MapperOptions& options_;
  const MapperControl& control_;
  std::vector<ComponentId> homes_;
  std::vector<BoundProblem> alone_;  ///< per Einsum
  std::vector<SearchedGroup> groups_;
  bool is_cut_short_ = false;  ///< longer groups than those in `groups_` are not looked at
  bool is_complete_ = false;
  /// Bounds are about mappings that meet the rules of memories (`keep`); constraints may override
  /// these.
  const bool has_bounds_ = !may_override_keep(problem_, options_.constraints);
};

}  // namespace

std::string CompoundMapper::description() const {
  return "groups of Einsums spread over clusters and cores, with collectives (COMET), under the "
         "latency "
         "policies overlap, pipeline and staged; optimal in small spaces";
}

std::optional<UnpricedPart> CompoundMapper::unpriced(const BoundProblem& problem,
                                                     const MapperOptions& options) const {
  if (const auto compute = compound::compute_elsewhere(problem))
    return UnpricedPart{"computes below several outermost memories", problem.arch[*compute].name,
                        "one memory above all of them"};
  if (const auto tensor = compound::tensor_elsewhere(problem))
    return UnpricedPart{"inputs and results that the outermost memory may not hold",
                        problem.workload[*tensor].name, "let its `may_keep` name them"};
  const std::array known = {LatencyPolicy::kOverlap, LatencyPolicy::kPipeline,
                            LatencyPolicy::kStaged};
  if (std::find(known.begin(), known.end(), options.policy) == known.end())
    return UnpricedPart{"other latency policies than overlap, pipeline and staged",
                        "--latency " + options.policy.name(), "--latency overlap"};
  if (options.resource_usage)
    return UnpricedPart{"peak occupancies as criteria", "resource_usage", "objectives alone"};
  if (options.row_fusion)
    return UnpricedPart{"rows handed on step by step", "row_fusion", "whole tiles handed on"};
  if (options.imperfect_factors == ImperfectFactors::kAll)
    return UnpricedPart{"imperfect factors of loops that Einsums share", "imperfect_factors",
                        "`unfused`"};
  // 1 is the default, which is a limit of the other mappers.
  if (options.max_fused_loops_per_rank != 1 && options.max_fused_loops_per_rank != kUnlimitedLoops)
    return UnpricedPart{"limits of shared loops over one rank", "max_fused_loops_per_rank",
                        "any number of them"};
  return std::nullopt;
}

tl::expected<MapperResult, NoMapping> CompoundMapper::map(const BoundProblem& problem,
                                                          const MapperOptions& options,
                                                          const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  const auto search = std::make_shared<CompoundSearch>(problem, options, control);
  auto outcome = search->run();
  if (control.leftovers != nullptr && is_cancelled(control.cancel)) control.leftovers->add(search);
  return outcome;
}

}  // namespace sluice
