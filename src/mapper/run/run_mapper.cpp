#include "sluice/mapper/run_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "blamed_usage.h"
#include "chain_bound.h"
#include "first_mapping.h"
#include "mapper/common/budget_watch.h"
#include "mapper/common/criteria.h"
#include "mapper/common/room_for_chains.h"
#include "mapper/common/rounding.h"
#include "mapper/request/constrained_problem.h"
#include "mapper/request/einsum_orders.h"
#include "mapper/request/overridden_rules.h"
#include "mapper/request/refusal.h"
#include "mapper/request/search_space.h"
#include "mapper/strategies/by_parts.h"
#include "mapper/strategies/fused_mapper.h"
#include "mapper/strategies/sampling_mappers.h"
#include "mapper/strategies/walks.h"
#include "order_search.h"
#include "relaxed_bound.h"
#include "side_chains.h"
#include "side_walks.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/selection.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/problem_chains.h"
#include "support/seconds_since.h"
#include "told_bound.h"
#include "too_small.h"

namespace sluice {
namespace {

using MapperOutcome = tl::expected<MapperResult, NoMapping>;

/// The known mapping may be one of another space: where nothing here beats it, the search starts
/// again without it.
MapperOutcome map_from_known(const Mapper& mapper, const BoundProblem& problem,
                             const MapperOptions& options, const MapperControl& control) {
  MapperOutcome outcome = map_in_orders(mapper, problem, options, control);
  if (outcome || !outcome.error().is_beaten) return outcome;
  MapperControl afresh = control;
  afresh.known_objective.reset();
  return map_in_orders(mapper, problem, options, afresh);
}

/// The constraints one by one: calls `function(name, all others)`.
template <class Function>
void for_each_left_out(const Constraints& constraints, Function function) {
  const auto visit = [&](auto Constraints::*list) {
    for (std::size_t i = 0; i < (constraints.*list).size(); ++i) {
      Constraints others = constraints;
      (others.*list).erase((others.*list).begin() + static_cast<std::ptrdiff_t>(i));
      function((constraints.*list)[i].name, others);
    }
  };
  visit(&Constraints::storage);
  visit(&Constraints::tiles);
  visit(&Constraints::spatial);
  visit(&Constraints::fusion);
  visit(&Constraints::loop_orders);
  visit(&Constraints::schedules);
  visit(&Constraints::collectives);
}

/// Names the constraints without any one of which something would be left. Where the search ends
/// before it is known which ones, it names all.
NoMapping blame_constraints(const Mapper& mapper, const BoundProblem& problem,
                            const MapperOptions& options, const MapperControl& control,
                            NoMapping no) {
  if (options.constraints == Constraints{}) return no;
  const auto try_with = [&](const Constraints& constraints) {
    MapperOptions tried = options;
    tried.constraints = constraints;
    return find_any(mapper, problem, tried, control.cancel);
  };
  const Feasibility without = try_with(Constraints{});
  const bool is_unknown = !without.has_mapping && !without.no;
  if (without.no || (is_unknown && !is_cancelled(control.cancel))) return no;
  std::string guilty, all;
  for_each_left_out(options.constraints, [&](const std::string& name, const Constraints& others) {
    all += (all.empty() ? "" : ", ") + name;
    if (!is_cancelled(control.cancel) && try_with(others).has_mapping)
      guilty += (guilty.empty() ? "" : ", ") + name;
  });
  if (is_cancelled(control.cancel)) guilty.clear();
  const std::string names = guilty.empty() ? all : guilty;
  no.reason = is_unknown ? fmt::format("{}, with the constraints {}", no.reason, names)
                         : fmt::format("constraints leave no mapping: {} ({})", names, no.reason);
  if (is_cancelled(control.cancel))
    no.nearest_relaxation =
        "loosen some of them; the search ended before it was known which ones: " + names;
  else
    no.nearest_relaxation =
        guilty.empty() ? "loosen several of them: " + names : "leave out or loosen " + names;
  return no;
}

MapperOutcome map_and_blame(const Mapper& mapper, const BoundProblem& problem,
                            const MapperOptions& options, const MapperControl& control) {
  MapperOutcome outcome = map_from_known(mapper, problem, options, control);
  if (outcome || is_cancelled(control.cancel)) return outcome;
  if (!outcome.error().proven) return outcome;
  outcome.error() =
      checked_alone(mapper, problem, options, control.cancel, std::move(outcome.error()));
  if (auto reason = blamed_usage(mapper, problem, options, control.cancel, outcome.error()))
    return tl::make_unexpected(std::move(*reason));
  return tl::make_unexpected(
      blame_constraints(mapper, problem, options, control, std::move(outcome.error())));
}

/// A search that a limit ended, and that has nothing.
NoMapping nothing_within(const BoundProblem& problem, const MapperOptions& options,
                         const MapperControl& control, BudgetWatch::End end) {
  const bool is_memory = end == BudgetWatch::End::kMemory;
  NoMapping no;
  no.reason = fmt::format(
      "the {} ended before a mapping was found",
      is_memory ? fmt::format("memory of {:.3g} GB", *options.memory_bytes / 1e9)
                : fmt::format("budget of {:g} s",
                              control.whole_budget_seconds.value_or(*options.budget_seconds)));
  no.nearest_relaxation = is_memory ? "a larger --memory" : "a larger --budget";
  if (const std::string fanouts = demanding_fanouts_of(problem); !fanouts.empty())
    no.nearest_relaxation += ", or a smaller min_usage of " + fanouts;
  no.proven = false;
  return no;
}

double value_of(const MapperResult& result, Objective objective) {
  return result.mappings.empty() ? std::numeric_limits<double>::infinity()
                                 : objective_value(objective, result.mappings.front().cost);
}

/// What a search that did not end found, or the incumbent, if that is better.
void take_incumbent(const Incumbent& incumbent, const MapperOptions& options,
                    MapperResult* result) {
  if (!asks_for_one(options) && !result->mappings.empty()) return;
  const auto best = incumbent.best();
  if (best && incumbent.objective() < value_of(*result, options.objectives.front()))
    result->mappings = {*best};
}

/// The front of a search that did not end, with what walks found.
void take_corners(const BoundProblem& problem, const MapperOptions& options,
                  const Incumbent& incumbent, const CornerWalks& corners, MapperResult* result) {
  std::vector<MappedResult> found = corners.found();
  if (auto best = incumbent.best()) found.push_back(*std::move(best));
  for (MappedResult& own : found) result->mappings.push_back(std::move(own));
  result->mappings = joint_front_of(problem, options, std::move(result->mappings));
  result->search.mappings_evaluated += corners.evaluations();
}

/// Whether an objective is as low as a bound, or as near to it as is asked for; none is below zero.
bool meets(double objective, double bound, double epsilon = 0) {
  return objective == 0 || (bound > 0 && is_at_most(objective, bound * (1 + epsilon)));
}
/// Whether it is no less than the bound: a mapping of another space may be below, and others
/// further.
bool is_near(double objective, double bound, double epsilon) {
  return meets(objective, bound, epsilon) && is_at_most(bound, objective);
}

/// Whether bounds are about the one mapping that is asked for.
bool tells_bounds(const BoundProblem& problem, const MapperOptions& options) {
  return asks_for_one(options) && !may_override_keep(problem, options.constraints);
}

/// What no mapping of the mapper's space is below; takes up to some tenths of a second.
double bound_of_space(const Mapper& mapper, const BoundProblem& problem,
                      const MapperOptions& options) {
  return objective_bound(options.objectives.front(), space_bounds(mapper, problem, options));
}

/// Of a search that did not end; a bound holds whatever was searched. `told`: one that the search
/// told, that of the space included where `tells_bounds`. Bounds of the mapper's space are none
/// where a mapping from elsewhere is below.
void bound_result(const Mapper& mapper, const BoundProblem& problem, const MapperOptions& options,
                  double told, MapperResult* result) {
  Guarantee& guarantee = result->guarantee;
  const bool has_gap = guarantee.kind == GuaranteeKind::kGap;
  const bool is_single = !asks_for_front(options);
  if (is_single && !may_override_keep(problem, options.constraints)) {
    const Objective objective = options.objectives.front();
    guarantee.bound = std::max(has_gap ? guarantee.bound : 0.0,
                               objective_bound(objective, concurrent_bounds(problem)));
    const double found = value_of(*result, objective);
    const double own = tells_bounds(problem, options) && is_at_most(told, found)
                           ? told
                           : bound_of_space(mapper, problem, options);
    for (const double bound : {told, own})
      if (is_at_most(bound, found)) guarantee.bound = std::max(guarantee.bound, bound);
  }
  guarantee.kind = has_gap || guarantee.bound > 0 ? GuaranteeKind::kGap : GuaranteeKind::kNone;
  // What meets the bound is proven.
  if (!asks_for_one(options)) return;
  const double found = value_of(*result, options.objectives.front());
  if (meets(found, guarantee.bound)) {
    guarantee.kind = GuaranteeKind::kOptimal;
  } else if (options.epsilon > 0 && meets(found, guarantee.bound, options.epsilon)) {
    guarantee.kind = GuaranteeKind::kWithinEpsilon;
    guarantee.epsilon = options.epsilon;
  }
  if (is_proof(guarantee)) result->search.ended_by.clear();  // nothing was left to find
}

/// Whether walks find what the search is asked for.
bool takes_walks(const Mapper& mapper, const BoundProblem& problem, const MapperOptions& options) {
  MapperOptions drawn = options_of_walks(options);
  drawn.imperfect_factors = ImperfectFactors::kNone;  // walks have uneven loops, too
  return mapper.wants_walks() && !options.budget_evaluations &&
         !refused_alone(RandomMapper(), problem, drawn);
}

/// What to call a mapping of the walks where the search itself has nothing to say.
MapperResult result_of_walks(const BoundProblem& problem, const MapperOptions& options) {
  MapperResult result;
  result.guarantee.space = searched_space(options);
  result.guarantee.leaves_out = left_out(SearchSpace::kExchanges, problem, options);
  result.search.threads = options.threads;
  return result;
}

/// Whether what walks found may be better. Where a search ends by itself without a proof, only with
/// a budget of time: else the clock would decide what comes out.
bool may_be_beaten(const MapperOutcome& outcome, const MapperOptions& options) {
  if (!outcome) return !outcome.error().proven;
  return outcome->cancelled || !outcome->search.ended_by.empty() ||
         (options.budget_seconds && !is_proof(outcome->guarantee));
}

/// Whether walks have something better than what is proven: of another space.
bool is_beaten(const MapperOutcome& outcome, const Incumbent& incumbent,
               const MapperOptions& options) {
  return outcome && is_proof(outcome->guarantee) && options.budget_seconds &&
         asks_for_one(options) &&
         incumbent.objective() < value_of(*outcome, options.objectives.front()) * kBelowRounding;
}

/// Whether a memory asks for the order of its nodes, which chains do not know.
bool orders_nodes(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(), [](const Component& own) {
    return own.tensor_policy() != nullptr && !own.tensor_policy()->tensor_order_options.empty();
  });
}

/// Whether chains are the first to search: they price Einsums that are apart as they are, in the
/// space of `fused`.
bool begins_with_chains(const Mapper& mapper, const BoundProblem& problem,
                        const MapperOptions& options) {
  if (problem.einsums.size() != 1 && !exchange_outermost(problem)) return false;
  const bool has_more =
      std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& einsum) {
        return std::any_of(
            einsum.computes.begin(), einsum.computes.end(),
            [&](const BoundCompute& compute) { return has_unknown_costs(problem, compute); });
      });
  return options.pruning.chains && options.objectives.front() != Objective::kLatency && !has_more &&
         !orders_nodes(problem.arch) && has_room_for_chains(options) &&
         takes_walks(mapper, problem, options) &&
         takes_relaxed_bound(FusedMapper(), problem, options);
}

/// The architecture with the nodes of its memories in their order; none where they are.
std::optional<Arch> with_ordered_nodes(Arch arch) {
  bool is_free = false;
  for (Component& component : arch.components) {
    auto* const memory = std::get_if<Memory>(&component.kind);
    if (memory == nullptr || memory->tensors.force_memory_hierarchy_order) continue;
    memory->tensors.force_memory_hierarchy_order = is_free = true;
  }
  return is_free ? std::optional(std::move(arch)) : std::nullopt;
}

/// Where the order of nodes is free, good mappings are found sooner among those that keep it: they
/// have the first part of the time, and what they find goes to the incumbent.
void begin_in_order(const Mapper& mapper, const BoundProblem& problem, const MapperOptions& options,
                    const MapperControl& control, const MapperRegistry& mappers) {
  // Of a budget; s. Chains bound and map one Einsum in any order as soon.
  const double share = problem.einsums.size() > 1 ? 0.5 : 0.25;
  constexpr double kMost = 0.4, kUnlimited = 0.4;
  if (!takes_walks(mapper, problem, options) || mapper.makes_collectives()) return;
  auto arch = with_ordered_nodes(problem.arch);
  if (!arch) return;
  BoundProblem ordered = problem;
  ordered.arch = std::move(*arch);
  MapperOptions soon = options;
  soon.budget_seconds =
      options.budget_seconds ? std::min(kMost, share * *options.budget_seconds) : kUnlimited;
  MapperControl own;  // bounds of theirs are none of all
  own.cancel = control.cancel;
  own.incumbent = control.incumbent;
  own.leftovers = control.leftovers;
  (void)run_mapper(mapper, ordered, soon, own, mappers);
}

/// What chains prove to be the best, in the same way whatever walks find meanwhile.
struct ByChains {
  std::optional<MapperResult> proven;
  bool know_no_more = false;
};
ByChains map_by_chains(const BoundProblem& problem, const MapperOptions& options,
                       const MapperControl& control) {
  ByChains found;
  const auto start = std::chrono::steady_clock::now();
  const BoundProblem bounded = constrained(problem, options.constraints);
  auto chains =
      ChainBound::of(problem, bounded, options, control.incumbent, options.threads, control.cancel);
  // Of one Einsum a graph of exchanges knows no more; of several it may end sooner.
  constexpr double kMostStates = 2e10;  // about a minute, if nothing cuts it short
  const bool is_one = problem.einsums.size() == 1;
  if (!chains || !(is_one || chains->are_apart())) return found;
  if (!is_one && !options.budget_seconds && chains->n_states() > kMostStates) return found;
  const auto tell = [&](double bound) {
    if (control.progress)
      control.progress("raising the bound", bound / control.incumbent->objective());
    if (control.bound) control.bound(bound);
  };
  chains->refine(std::numeric_limits<double>::infinity(), *control.incumbent, control.cancel, tell);
  found.know_no_more = true;
  auto best = chains->proven();
  if (!best) return found;
  MapperResult& result = found.proven.emplace(result_of_walks(problem, options));
  result.mappings = {std::move(*best)};
  result.guarantee.kind = GuaranteeKind::kOptimal;
  result.search.mappings_evaluated = chains->evaluations();
  result.search.mappings_considered = chains->n_states();
  result.search.seconds = seconds_since(start);
  return found;
}

/// As in SearchStatistics::ended_by.
const char* limit_name(BudgetWatch::End end) {
  return end == BudgetWatch::End::kMemory ? "memory" : "budget";
}

/// Whether a search that ended by itself leaves a gap.
bool leaves_gap(const MapperResult& result) {
  return result.guarantee.kind == GuaranteeKind::kGap && !result.cancelled &&
         result.search.ended_by.empty();
}

/// Passes on what is found.
std::function<void(double, const MappedResult&)> offer_to(Incumbent* incumbent) {
  return [incumbent](double objective, const MappedResult& mapped) {
    if (incumbent != nullptr) incumbent->offer(objective, mapped);
  };
}

/// What a search by parts of actions leaves open where whole ones cost more: chains know those of
/// inputs.
void map_whole_actions(const Mapper& mapper, const BoundProblem& problem,
                       const MapperOptions& options, const MapperControl& control,
                       MapperResult* result) {
  if (!leaves_gap(*result) || !tells_bounds(problem, options) ||
      !begins_with_chains(mapper, problem, options))
    return;
  MapperControl limited = control;
  const ToldBound told(&limited);
  limited.bound(bound_of_space(mapper, problem, options));
  Incumbent known(offer_to(control.incumbent));
  known.offer(value_of(*result, options.objectives.front()), result->mappings.front());
  limited.incumbent = &known;
  const auto start = std::chrono::steady_clock::now();
  std::optional<BudgetWatch> watch;
  if (options.budget_seconds || options.memory_bytes) {
    std::optional<double> left = options.budget_seconds;
    if (left) *left -= result->search.seconds;
    limited.cancel = watch.emplace(left, options.memory_bytes, control.cancel).flag();
  }
  const ByChains found = map_by_chains(problem, options, limited);
  result->search.seconds += seconds_since(start);
  if (found.proven) {
    result->search.mappings_evaluated += found.proven->search.mappings_evaluated;
    result->mappings = found.proven->mappings;
    result->guarantee.kind = GuaranteeKind::kOptimal;
    result->guarantee.bound = 0;
  } else {
    bound_result(mapper, problem, options, told.best(), result);
  }
}

/// Walks, which price whole actions, have the rest of the budget where that is still open.
void walk_by_whole_actions(const Mapper& mapper, const BoundProblem& problem,
                           const MapperOptions& options, const MapperControl& control,
                           std::chrono::steady_clock::time_point start, MapperResult* result) {
  if (!leaves_gap(*result) || result->mappings.empty() || !options.budget_seconds ||
      !tells_bounds(problem, options) || !takes_walks(mapper, problem, options))
    return;
  const double left = *options.budget_seconds - seconds_since(start);
  if (left <= 0) return;
  Incumbent known(offer_to(control.incumbent));
  known.offer(value_of(*result, options.objectives.front()), result->mappings.front());
  BudgetWatch watch(left, options.memory_bytes, control.cancel, [&] {
    return is_near(known.objective(), result->guarantee.bound, options.epsilon);
  });
  SideWalks walks(problem, options, &known, control.leftovers);
  walks.take_over(watch.flag(), std::numeric_limits<double>::infinity());
  walks.finish();
  take_incumbent(known, options, result);
  result->search.seconds = seconds_since(start);
  result->search.mappings_evaluated += walks.evaluations();
  result->cancelled = is_cancelled(control.cancel);
  if (!result->cancelled && watch.end() != BudgetWatch::End::kMet)
    result->search.ended_by = limit_name(watch.end());
  bound_result(mapper, problem, options, result->guarantee.bound, result);
}

/// What runs beside a search to bound it.
struct SideBounds {
  std::optional<SideChains> chains;
  std::optional<RelaxedBound> relaxed;

  int n_at_work() const {
    return int{chains && chains->are_at_work()} + int{relaxed && relaxed->is_at_work()};
  }
  /// Throws what they threw. `leftovers`: as in MapperControl.
  void finish(Leftovers* leftovers) {
    if (chains) chains->finish();
    if (relaxed) relaxed->finish(leftovers);
  }
};

/// A search, and beside it bounds, where they may know more, and walks.
MapperOutcome map_with_walks(const Mapper& mapper, const BoundProblem& problem,
                             const MapperOptions& options, const MapperControl& control,
                             ToldBound* told, SideBounds* bounds) {
  const auto begin_bounds = [&](bool may_take_chains) {
    if (!takes_relaxed_bound(mapper, problem, options)) return;
    const bool has_chains = may_take_chains && has_room_for_chains(options);
    if (has_chains)
      bounds->chains.emplace(problem, options, *control.incumbent, *told, control.cancel,
                             control.bound);
    bounds->relaxed.emplace(problem, options, *control.incumbent, *told, has_chains, control.cancel,
                            control.bound);
  };
  if (!takes_walks(mapper, problem, options)) {
    begin_bounds(true);
    return map_and_blame(mapper, problem, options, control);
  }
  Incumbent& incumbent = *control.incumbent;
  MapperControl beside_walks = control;
  beside_walks.has_walks = true;
  const auto start = std::chrono::steady_clock::now();
  SideWalks walks(problem, options, &incumbent, control.leftovers, nullptr,
                  [&] { return told->leaves_it_to_proof(incumbent); });
  std::optional<CornerWalks> corners;
  if (options.objectives.size() > 1) corners.emplace(problem, options, control.leftovers);
  ByChains by_chains;
  if (begins_with_chains(mapper, problem, options))
    by_chains = map_by_chains(problem, options, control);
  if (by_chains.proven) {
    walks.finish();
    return *std::move(by_chains.proven);
  }
  begin_bounds(!by_chains.know_no_more);
  told->set_proving(true);
  // Walks go where groups do not: of two threads each has one.
  MapperOptions own = options;
  if (mapper.makes_collectives() && options.budget_seconds && options.threads > 1) {
    --own.threads;
    walks.keep_on();
  }
  MapperOutcome outcome = map_and_blame(mapper, problem, own, beside_walks);
  if (outcome) outcome->search.threads = options.threads;
  told->set_proving(false);
  const bool is_left =
      !outcome && !outcome.error().proven && control.has_next && !is_cancelled(control.cancel);
  const bool is_open =
      !is_left && (may_be_beaten(outcome, options) || is_beaten(outcome, incumbent, options));
  constexpr double kPatience = 5;  // s, without a budget
  if (is_open && (!outcome || outcome->cancelled || options.budget_seconds))
    walks.take_over(control.cancel,
                    options.budget_seconds ? std::numeric_limits<double>::infinity() : kPatience,
                    [bounds] { return bounds->n_at_work(); });
  constexpr double kGrace = 0.15;  // s: an answer a little late is better than none
  if (is_open && !control.has_next) walks.wait_for_a_mapping(kGrace);
  walks.finish();
  if (corners) corners->finish();
  if (!is_open) return outcome;
  if (!outcome && incumbent.best()) {
    outcome = result_of_walks(problem, options);
    outcome->cancelled = is_cancelled(control.cancel);
  }
  if (!outcome) return outcome;
  SearchStatistics& search = outcome->search;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  search.seconds = std::max(search.seconds, taken.count());
  search.mappings_evaluated += walks.evaluations();
  search.mappings_considered = std::max(search.mappings_considered, search.mappings_evaluated);
  if (is_beaten(outcome, incumbent, options)) outcome->guarantee.kind = GuaranteeKind::kNone;
  take_incumbent(incumbent, options, &*outcome);
  if (corners) take_corners(problem, options, incumbent, *corners, &*outcome);
  bound_result(mapper, problem, options, told->best(), &*outcome);
  return outcome;
}

/// A mapping that is no dearer than what no mapping is below is proven.
MapperOutcome with_proof_at_bound(const MapperOptions& options, MapperOutcome outcome) {
  if (!outcome || outcome->mappings.empty() || !asks_for_one(options) ||
      outcome->guarantee.kind != GuaranteeKind::kGap)
    return outcome;
  if (is_near(value_of(*outcome, options.objectives.front()), outcome->guarantee.bound, 0)) {
    outcome->guarantee.kind = GuaranteeKind::kOptimal;
    outcome->search.ended_by.clear();
  }
  return outcome;
}

MapperOutcome search(const Mapper& mapper, const BoundProblem& problem,
                     const MapperOptions& options, const MapperControl& control,
                     const MapperRegistry& mappers) {
  if (auto no = refused_request(mapper, problem, options, mappers))
    return tl::make_unexpected(std::move(*no));
  // The one order that there is, is the one written.
  if (options.explore_einsum_orders && einsum_orders(problem.workload, 2).size() == 1) {
    MapperOptions as_written = options;
    as_written.explore_einsum_orders = false;
    return run_mapper(mapper, problem, as_written, control, mappers);
  }
  if (const auto left = without_excluded_computes(problem, options.constraints)) {
    if (auto no = no_compute_left(problem, options.constraints))
      return tl::make_unexpected(std::move(*no));
    return run_mapper(mapper, *left, options, control, mappers);
  }
  // All that runs beside the search knows parts alone, too.
  if (has_whole_actions(problem.arch) && mapper.prices_by_parts()) {
    const auto start = std::chrono::steady_clock::now();
    MapperOutcome outcome = map_by_parts(problem, options, control,
                                         [&](const BoundProblem& parts, const MapperControl& own) {
                                           return run_mapper(mapper, parts, options, own, mappers);
                                         });
    if (outcome) map_whole_actions(mapper, problem, options, control, &*outcome);
    if (outcome) walk_by_whole_actions(mapper, problem, options, control, start, &*outcome);
    return outcome;
  }
  if (auto no = too_small_memory(problem, options.constraints))
    return tl::make_unexpected(std::move(*no));
  MapperControl limited = control;
  Incumbent own;
  if (control.incumbent == nullptr) limited.incumbent = &own;
  ToldBound told(&limited);
  const bool has_bounds = tells_bounds(problem, options);
  if (has_bounds)
    if (const double least =
            std::max(control.known_bound, bound_of_space(mapper, problem, options));
        least > 0)
      limited.bound(least);
  // Without a budget the clock is not to decide what comes out, unless whoever takes what is near
  // would have to wait for long.
  constexpr double kPatience = 3;  // s
  const bool takes_near = asks_for_one(options) && options.epsilon > 0;
  const auto start = std::chrono::steady_clock::now();
  const auto is_enough = [&] {
    if (!has_bounds || !(options.budget_seconds || takes_near)) return false;
    if (!options.budget_seconds && seconds_since(start) < kPatience) return false;
    return is_near(limited.incumbent->objective(), told.best(), options.epsilon);
  };
  std::optional<BudgetWatch> watch;
  if (options.budget_seconds || options.memory_bytes || takes_near)
    limited.cancel =
        watch.emplace(options.budget_seconds, options.memory_bytes, control.cancel, is_enough)
            .flag();
  begin_in_order(mapper, problem, options, limited, mappers);
  SideBounds bounds;
  MapperOutcome outcome = map_with_walks(mapper, problem, options, limited, &told, &bounds);
  bounds.finish(control.leftovers);
  const bool is_met = watch && watch->end() == BudgetWatch::End::kMet;
  if (!outcome && is_met) {
    outcome = result_of_walks(problem, options);
    outcome->cancelled = true;
  }
  if (!outcome) return outcome;
  if (is_met) take_incumbent(*limited.incumbent, options, &*outcome);
  const bool is_open = outcome->guarantee.kind == GuaranteeKind::kNone &&
                       (options.budget_seconds || outcome->search.ended_by == "templates");
  if (!outcome->cancelled && !is_open) {
    // Walks had the rest of it.
    if (watch && watch->ran_out() && may_be_beaten(outcome, options) &&
        outcome->search.ended_by.empty())
      outcome->search.ended_by = limit_name(watch->end());
    return outcome;
  }
  bound_result(mapper, problem, options, told.best(), &*outcome);
  if (!outcome->cancelled) return outcome;  // it kept to the time by itself
  if (is_met) outcome->cancelled = false;
  if (!watch || !watch->ran_out()) return outcome;
  if (outcome->mappings.empty()) {
    auto reason = too_small_for_one(mapper, problem, options, control.cancel);
    return tl::make_unexpected(reason ? std::move(*reason)
                                      : nothing_within(problem, options, control, watch->end()));
  }
  outcome->cancelled = false;
  if (!is_proof(outcome->guarantee)) outcome->search.ended_by = limit_name(watch->end());
  return outcome;
}

}  // namespace

tl::expected<MapperResult, NoMapping> run_mapper(const Mapper& mapper, const BoundProblem& problem,
                                                 const MapperOptions& options,
                                                 const MapperControl& control,
                                                 const MapperRegistry& mappers) {
  return with_proof_at_bound(options, search(mapper, problem, options, control, mappers));
}

}  // namespace sluice
