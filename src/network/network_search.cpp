#include "sluice/network/network_search.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "mapper/common/rounding.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/network/layers_mapper.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

using MapperOutcome = tl::expected<MapperResult, NoMapping>;

constexpr double kSoon = 1, kShort = 1.5;  // s

bool has_mapping(const MapperOutcome& outcome) { return outcome && !outcome->mappings.empty(); }

double value_of(const MapperOutcome& outcome, Objective objective) {
  return has_mapping(outcome) ? objective_value(objective, outcome->mappings.front().cost)
                              : std::numeric_limits<double>::infinity();
}

/// What it has in hand goes to the incumbent: without a budget the clock decides how much that is,
/// as it does of walks, and not what is proven in the end.
MapperOptions options_of_first(MapperOptions options) {
  constexpr double kMost = 0.75, kShare = 0.5;  // of a budget
  options.budget_seconds = options.budget_seconds
                               ? std::max(kShare * *options.budget_seconds,
                                          std::min(kMost * *options.budget_seconds, kShort))
                               : kSoon;
  return options;
}

/// To begin and to end a search of a whole takes longer the more Einsums it has (s).
double reserve_for(std::size_t n_einsums) {
  constexpr double kMany = 1000, kEach = 3e-4;
  return kEach * std::max(0.0, static_cast<double>(n_einsums) - kMany);
}

/// Whether a search ended by itself with a proof, be it that there is nothing.
bool is_proven(const MapperOutcome& outcome) {
  return outcome ? is_proof(outcome->guarantee) : outcome.error().proven;
}

/// Whether it has a better mapping than the other one, or one that is as good and proven.
bool is_better(const MapperOutcome& outcome, const MapperOutcome& other, Objective objective) {
  const double own = value_of(outcome, objective), others = value_of(other, objective);
  if (!has_mapping(outcome) || is_proven(outcome) == is_proven(other)) return own < others;
  return is_proven(outcome) ? is_at_most(own, others) : !is_at_most(others, own);
}

/// The better of two searches that shared the time since `start`, with the work of both: of equal
/// ones the one that is proven.
MapperOutcome better_of(MapperOutcome found, MapperOutcome other, const MapperOptions& options,
                        std::chrono::steady_clock::time_point start) {
  const Objective objective = options.objectives.front();
  const bool takes_other = is_better(other, found, objective);
  if (takes_other) std::swap(found, other);
  if (!found) return found;
  SearchStatistics& search = found->search;
  search.seconds = seconds_since(start);
  // A proof of one space does not say that the other was searched to its end.
  if (takes_other && other && search.ended_by.empty()) search.ended_by = other->search.ended_by;
  if (other) {
    search.mappings_evaluated += other->search.mappings_evaluated;
    found->cancelled |= other->cancelled;
  }
  search.mappings_considered = std::max(search.mappings_considered, search.mappings_evaluated);
  return found;
}

/// A first look of the next mapper: it may soon have an optimum of its space.
MapperOutcome look(const Mapper& mapper, const BoundProblem& problem, MapperOptions options,
                   const MapperControl& control, const MapperRegistry& mappers) {
  constexpr double kShare = 0.1, kMost = 0.5;  // of the budget; s
  options.budget_seconds = std::min(kMost, kShare * *options.budget_seconds);
  MapperControl own = control;
  own.bound = {};  // of its space alone
  own.has_next = true;
  return run_mapper(mapper, problem, options, own, mappers);
}

/// Where a search without a budget ends with a gap: the better of what it found and what so many
/// mappings of annealing have, whatever the clock says.
void anneal(const BoundProblem& problem, MapperOptions options, const MapperControl& control,
            const MapperRegistry& mappers, MapperResult* found) {
  constexpr double kAll = 40'000, kMost = 10'000, kLeast = 1'000;  // evaluations
  const Mapper* annealing = mappers.find("anneal");
  if (annealing == nullptr || found->guarantee.kind != GuaranteeKind::kGap ||
      found->mappings.empty() || options.objectives.size() != 1)
    return;
  const auto start = std::chrono::steady_clock::now();
  const auto n_einsums = static_cast<double>(problem.einsums.size());
  options.budget_evaluations = std::clamp(kAll / n_einsums, kLeast, kMost);
  MapperControl own = control;
  own.bound = {};
  const MapperOutcome other = run_mapper(*annealing, problem, options, own, mappers);
  found->search.seconds += seconds_since(start);
  if (!other) return;
  found->search.mappings_evaluated += other->search.mappings_evaluated;
  found->search.mappings_considered += other->search.mappings_evaluated;
  found->cancelled |= other->cancelled;
  const Objective objective = options.objectives.front();
  const double best = value_of(other, objective);
  if (best >= objective_value(objective, found->mappings.front().cost)) return;
  found->mappings = other->mappings;
  const double bound = found->guarantee.bound;
  if (!is_at_most(bound, best))  // of another space than the bound
    found->guarantee = other->guarantee;
  else if (is_at_most(best, bound))
    found->guarantee.kind = GuaranteeKind::kOptimal;
}

/// The mapper that was chosen, and the next one: of a budget that has a look first, and if it did
/// not end by itself, what is left. Without one it has what the first could not answer.
MapperOutcome search_then(const MapperChoice& choice, const BoundProblem& problem,
                          const MapperOptions& options, const MapperControl& control,
                          const MapperRegistry& mappers) {
  constexpr double kLeast = 0.01;  // s: what is in hand comes out
  const auto start = std::chrono::steady_clock::now();
  MapperOptions rest = options;
  const auto left = [&] { return *options.budget_seconds - seconds_since(start); };
  MapperControl of_first = control;
  of_first.has_next = choice.then != nullptr;
  std::optional<MapperOutcome> looked;
  if (choice.then != nullptr && options.budget_seconds) {
    looked = look(*choice.then, problem, options, control, mappers);
    if (is_cancelled(control.cancel) || (left() <= 0 && has_mapping(*looked)))
      return *std::move(looked);
    rest.budget_seconds = std::max(kLeast, left());
    of_first.has_next = !is_proven(*looked);
  }
  MapperOutcome found = run_mapper(*choice.mapper, problem, rest, of_first, mappers);
  const auto with_look = [&](MapperOutcome outcome) {
    return looked ? better_of(std::move(outcome), *std::move(looked), options, start) : outcome;
  };
  const bool is_open = !found && !found.error().proven;
  const bool stands_in = choice.mapper->makes_collectives() && !choice.reason.empty();
  if (stands_in && found && !options.budget_seconds && !options.budget_evaluations &&
      !is_cancelled(control.cancel))
    anneal(problem, options, control, mappers, &*found);
  if (!of_first.has_next || is_cancelled(control.cancel) || !(is_open || options.budget_seconds) ||
      (found && !found->search.ended_by.empty()))
    return with_look(std::move(found));
  if (rest.budget_seconds) {
    rest.budget_seconds = left() - reserve_for(problem.einsums.size());
    if (is_open) *rest.budget_seconds = std::max(kLeast, *rest.budget_seconds);
    if (*rest.budget_seconds <= 0) return with_look(std::move(found));
  }
  return with_look(better_of(
      std::move(found), run_mapper(*choice.then, problem, rest, control, mappers), options, start));
}

}  // namespace

MapperOutcome search_network(const MapperChoice& choice, const BoundProblem& problem,
                             const MapperOptions& options, const MapperControl& control,
                             const MapperRegistry& mappers) {
  const auto start = std::chrono::steady_clock::now();
  Incumbent own;
  MapperControl shared = control;
  if (shared.incumbent == nullptr) shared.incumbent = &own;
  if (!shared.whole_budget_seconds) shared.whole_budget_seconds = options.budget_seconds;
  const bool has_first =
      choice.first != nullptr && (options.budget_seconds || !shared.incumbent->best());
  if (!has_first) return search_then(choice, problem, options, shared, mappers);

  MapperOptions of_first = options_of_first(options);
  // Each layer has its share of the time: a first mapping of all of them comes late where that is
  // much.
  if (of_first.budget_seconds > 2 * kSoon && !shared.incumbent->best()) {
    MapperOptions soon = of_first;
    soon.budget_seconds = kSoon;
    (void)run_mapper(*choice.first, problem, soon, shared, mappers);
    *of_first.budget_seconds -= seconds_since(start);
  }
  MapperOutcome first = run_mapper(*choice.first, problem, of_first, shared, mappers);
  MapperOptions rest = options;
  const double reserve = reserve_for(problem.einsums.size());
  if (rest.budget_seconds) *rest.budget_seconds -= seconds_since(start) + reserve;
  const bool is_over =
      is_cancelled(control.cancel) || (rest.budget_seconds && *rest.budget_seconds <= reserve);
  const bool is_best = value_of(first, options.objectives.front()) <= shared.incumbent->objective();
  if (is_over && has_mapping(first) && is_best) return first;
  if (rest.budget_seconds) *rest.budget_seconds = std::max(0.0, *rest.budget_seconds);
  return better_of(search_then(choice, problem, rest, shared, mappers), std::move(first), options,
                   start);
}

}  // namespace sluice
