#include "relaxed_bound.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/common/room_for_chains.h"
#include "mapper/common/rounding.h"
#include "mapper/request/constrained_problem.h"
#include "mapper/request/overridden_rules.h"
#include "mapper/strategies/fused_mapper.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/inner_chains.h"
#include "sluice/model/relaxed_machine.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// What constraints ask of the components that a relaxed machine keeps.
Constraints kept_constraints(const Constraints& constraints, const std::vector<ComponentId>& kept) {
  Constraints result;
  const auto add = [&](const auto& list, auto component, auto* into) {
    for (auto constraint : list) {
      const auto at = std::find(kept.begin(), kept.end(), constraint.*component);
      if (at == kept.end()) continue;
      constraint.*component = ComponentId(static_cast<std::size_t>(at - kept.begin()));
      into->push_back(std::move(constraint));
    }
  };
  add(constraints.storage, &StorageConstraint::memory, &result.storage);
  add(constraints.tiles, &TileConstraint::memory, &result.tiles);
  add(constraints.spatial, &SpatialConstraint::component, &result.spatial);
  return result;
}

MapperOptions relaxed_options(const MapperOptions& options, const std::vector<ComponentId>& kept) {
  MapperOptions relaxed;
  relaxed.objectives = options.objectives;
  relaxed.policy = options.policy;
  relaxed.constraints = kept_constraints(options.constraints, kept);
  relaxed.max_fused_loops = options.max_fused_loops;
  relaxed.max_fused_loops_per_rank = options.max_fused_loops_per_rank;
  relaxed.threads = 1;
  return relaxed;
}

/// Which operands come from memories inside a cut in each mapping that beats `limit`: what is known
/// of a problem once.
class Insides {
 public:
  /// `all`: bounds of all mappings.
  Insides(const BoundProblem& problem, const CostBounds& all, ComponentId cut)
      : all_(all), energies_(direct_energies(problem, cut)) {}

  InnerOperands under(Objective objective, double limit) const {
    return inner_operands(energies_, energy_beyond(objective, limit));
  }

 private:
  /// What a mapping that beats the limit spends beyond what every mapping does, at most (J).
  double energy_beyond(Objective objective, double limit) const {
    const double seconds = std::max(all_.compute_s, all_.memory_s);
    switch (objective) {
      case Objective::kEnergy:
        return limit - all_.energy_floor_j;
      case Objective::kEdp:
        return seconds > 0 ? limit / seconds - all_.energy_floor_j : kNoLimit;
      case Objective::kLatency:
        break;
    }
    return kNoLimit;
  }

  CostBounds all_;
  DirectEnergies energies_;
};

/// Whether chains say something of the mappings that are asked for.
bool takes_chains(const MapperOptions& options) {
  return options.objectives.front() != Objective::kLatency && !options.row_fusion &&
         options.pruning.chains && has_room_for_chains(options);
}

/// What a second is worth (J/s) in a mapping that is as good as bounds of all allow. In one that is
/// known it is often worth more: ways that are slow would be left out whose energy nobody knows
/// then, and which a relaxed machine takes for cheap.
double worth_of_seconds(Objective objective, const CostBounds& all) {
  const double seconds = std::max(all.compute_s, all.memory_s);
  return objective == Objective::kEdp && seconds > 0 ? all.energy_floor_j / seconds : 0;
}

/// How long chains are asked at once, before a search that may take as long as the last one.
double of_chains_s(const MapperOptions& options, double searched_s) {
  constexpr double kLeast = 0.25, kMost = 2, kOfBudget = 0.25;  // s
  return std::max(searched_s,
                  std::clamp(kOfBudget * options.budget_seconds.value_or(0), kLeast, kMost));
}

CostBounds bounds_of_all(const BoundProblem& problem) {
  return overlap_bounds(problem, cost_bounds(problem, Factors::kPerfect));
}

/// How long a relaxed search may take: it has a core that the search itself could use.
class Allowance {
 public:
  Allowance(std::optional<double> budget_s, bool is_first)
      : seconds_(std::max(1.0, (is_first ? kOfBudget : kFurtherIn) * budget_s.value_or(0))) {}
  double seconds() const { return seconds_; }
  void ran_out() { is_short_ = true; }

  /// Whether one that was too short is at least twice as long now, `elapsed` seconds after the
  /// first search began.
  bool grows_by(double elapsed) {
    const double seconds = (elapsed < kLong ? kShare : kShareOfLong) * elapsed;
    if (!is_short_ || seconds < 2 * seconds_) return false;
    seconds_ = seconds;
    is_short_ = false;
    return true;
  }

 private:
  static constexpr double kShare = 0.1, kOfBudget = 0.8, kFurtherIn = 0.4;
  static constexpr double kLong = 10, kShareOfLong = 0.4;  // s; whoever has no budget wants to know
  double seconds_;
  bool is_short_ = false;
};

double bound_with(const BoundProblem& problem, const MapperOptions& options, ComponentId cut,
                  const InnerOperands& inside, const InnerWays& ways, double limit,
                  MapperControl control) {
  const auto relaxed = relaxed_machine(problem, cut, inside, ways);
  if (!relaxed) return 0;
  double known = 0;
  const auto tell = std::exchange(control.bound, {});
  const auto take = [&](double bound) {
    bound = surely_below(std::min(bound, limit));
    if (!(bound > known)) return;  // nor where it is not a number
    known = bound;
    if (tell) tell(bound);
  };
  control.bound = take;
  control.asks_for_bound = true;
  if (std::isfinite(limit)) control.known_objective = limit;
  const auto outcome =
      FusedMapper().map(*relaxed, relaxed_options(options, kept_components(problem, cut)), control);
  if (is_cancelled(control.cancel)) return known;
  if (!outcome) {
    if (outcome.error().is_beaten) take(limit);
    return known;
  }
  const bool is_proven = outcome->guarantee.kind == GuaranteeKind::kOptimal;
  if (is_proven && !outcome->mappings.empty())
    take(objective_value(options.objectives.front(), outcome->mappings.front().cost));
  return known;
}

}  // namespace

bool takes_relaxed_bound(const Mapper& mapper, const BoundProblem& problem,
                         const MapperOptions& options) {
  return is_sequential(mapper, problem) && !mapper.makes_incremental_nodes() &&
         asks_for_one(options) && !options.explore_einsum_orders &&
         options.policy == LatencyPolicy::kOverlap && factors_of(options) == Factors::kPerfect &&
         !may_override_keep(problem, options.constraints);
}

double relaxed_bound(const BoundProblem& problem, const MapperOptions& options, double limit,
                     const std::atomic<bool>* cancel, const std::function<void(double)>& tell) {
  MapperControl control;
  control.cancel = cancel;
  control.bound = tell;
  const BoundProblem bounded = constrained(problem, options.constraints);
  const CostBounds all = bounds_of_all(bounded);
  const Objective objective = options.objectives.front();
  const double j_per_s = worth_of_seconds(objective, all);
  double bound = 0;
  for (const ComponentId cut : relaxation_cuts(bounded)) {
    const InnerOperands inside = Insides(bounded, all, cut).under(objective, limit);
    InnerWays ways;
    if (takes_chains(options)) {
      InnerChains chains(bounded, cut, j_per_s, cancel);
      while (chains.refine(cancel)) {
      }
      ways = chains.ways();
    }
    bound = std::max(bound, bound_with(bounded, options, cut, inside, ways, limit, control));
  }
  return bound;
}

/// A relaxed machine, and what was searched on it.
struct RelaxedBound::Rung {
  ComponentId cut;
  Allowance allowance;
  std::optional<Insides> insides = std::nullopt;  ///< from the first search on
  std::optional<InnerOperands> last = std::nullopt;
  double last_limit = 0;  ///< 0: it is to be searched yet
  double searched_s = 0;  ///< that took so long
  std::unique_ptr<InnerChains> chains = nullptr;
  bool may_know_more = true;  ///< chains
};

RelaxedBound::RelaxedBound(const BoundProblem& problem, const MapperOptions& options,
                           const Incumbent& incumbent, const ToldBound& told, bool has_chains,
                           const std::atomic<bool>* cancel, std::function<void(double)> tell)
    : problem_(problem),
      options_(options),
      incumbent_(incumbent),
      has_chains_(has_chains),
      bound_(told, std::move(tell)),
      thread_(cancel, [this](SideThread&) { search(); }) {}

/// From the outermost cut on, which is soon done, further in, which tells more.
void RelaxedBound::search() {
  const bool has_core = options_.threads > 1;
  const double rest = options_.budget_seconds && has_core ? 0.5 : 2;  // times what a search took
  constexpr double kStep = 0.1;                                       // s
  const auto began = std::chrono::steady_clock::now();
  thread_.set_at_work(false);
  if (!thread_.pause(bounds_begin_s(options_.budget_seconds))) return;  // it has ended at once
  thread_.set_at_work(true);
  if (!options_.budget_seconds) SideThread::stand_back();
  const BoundProblem bounded = constrained(problem_, options_.constraints);
  const CostBounds all = bounds_of_all(bounded);
  std::vector<Rung> rungs;
  for (const ComponentId cut : relaxation_cuts(bounded))
    rungs.push_back({cut, Allowance(options_.budget_seconds, rungs.empty())});
  double wait = 0;
  while (thread_.pause(wait)) {
    wait = kStep;
    if (bound_.is_idle(incumbent_)) continue;
    const double limit = incumbent_.objective();
    bool is_open = false;
    for (Rung& rung : rungs) {
      const auto start = std::chrono::steady_clock::now();
      const double elapsed = seconds_since(began);
      is_open = &rung != &rungs.front() && elapsed < kWalksFirst;
      if (is_open) break;
      is_open = search(bounded, all, limit, elapsed, &rung);
      if (!is_open) continue;
      const bool goes_on = options_.budget_seconds && takes_inner_chains() && rung.may_know_more;
      wait = goes_on ? 0 : std::max(kStep, rest * seconds_since(start));
      break;
    }
    thread_.set_at_work(is_open);
  }
}

bool RelaxedBound::takes_inner_chains() const { return has_chains_ && takes_chains(options_); }

/// What chains say of the costs inside a cut, for a while; whether they knew more.
bool RelaxedBound::ask_inner_chains(const BoundProblem& bounded, const CostBounds& all,
                                    Rung* rung) {
  if (!takes_inner_chains() || !rung->may_know_more) return false;
  const auto start = std::chrono::steady_clock::now();
  if (!rung->chains)
    rung->chains = std::make_unique<InnerChains>(
        bounded, rung->cut, worth_of_seconds(options_.objectives.front(), all), thread_.flag());
  while (rung->may_know_more && seconds_since(start) < of_chains_s(options_, rung->searched_s))
    rung->may_know_more = rung->chains->refine(thread_.flag());
  return true;
}

/// Whether there was something to search for.
bool RelaxedBound::search(const BoundProblem& bounded, const CostBounds& all, double limit,
                          double elapsed, Rung* rung) {
  bool is_again = rung->allowance.grows_by(elapsed);
  if (rung->last && ask_inner_chains(bounded, all, rung)) is_again = true;
  if (limit == rung->last_limit && !is_again) return false;
  const bool is_open = rung->last_limit == 0;
  rung->last_limit = limit;
  if (!rung->insides) rung->insides.emplace(bounded, all, rung->cut);
  InnerOperands inside = rung->insides->under(options_.objectives.front(), limit);
  if (inside == rung->last && !is_open && !is_again) return false;
  {
    constexpr double kSoon = 0.15;  // s: without chains
    const bool is_soon = takes_inner_chains() && !rung->chains;
    const BudgetWatch limited(is_soon ? kSoon : rung->allowance.seconds(), std::nullopt,
                              thread_.flag(), [this] { return bound_.is_idle(incumbent_); });
    MapperControl control;
    control.cancel = limited.flag();
    control.bound = [this](double bound) { bound_.tell(bound); };
    control.leftovers = &leftovers_;
    const InnerWays ways = rung->chains ? rung->chains->ways() : InnerWays();
    const auto start = std::chrono::steady_clock::now();
    bound_with(bounded, options_, rung->cut, inside, ways, limit, control);
    rung->searched_s = seconds_since(start);
    if (!is_soon && limited.ran_out()) rung->allowance.ran_out();
    if (limited.end() == BudgetWatch::End::kMet) rung->last_limit = 0;  // to be searched yet
  }
  if (!is_cancelled(thread_.flag())) leftovers_.clear();
  rung->last = std::move(inside);
  return true;
}

void RelaxedBound::finish(Leftovers* leftovers) {
  thread_.stop();
  if (leftovers != nullptr) leftovers_.move_to(leftovers);
  thread_.finish();
}

}  // namespace sluice
