#include "relaxed_bound.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "mapper/request/overridden_rules.h"
#include "mapper/strategies/fused_mapper.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/relaxed_machine.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kOtherOrder = 1e-12;  // of sums in another order

MapperOptions relaxed_options(const MapperOptions& options) {
  MapperOptions relaxed;
  relaxed.objectives = options.objectives;
  relaxed.policy = options.policy;
  relaxed.max_fused_loops = options.max_fused_loops;
  relaxed.max_fused_loops_per_rank = options.max_fused_loops_per_rank;
  relaxed.threads = 1;
  return relaxed;
}

/// Which operands come from inner memories in each mapping that beats `limit`: what is known of a
/// problem once.
class Insides {
 public:
  explicit Insides(const BoundProblem& problem)
      : all_(cost_bounds(problem, Factors::kPerfect)), energies_(direct_energies(problem)) {}

  InnerOperands under(Objective objective, double limit) const {
    return inner_operands(energies_, energy_beyond(objective, limit));
  }

 private:
  /// What a mapping spends beyond what every mapping does, at least, if it does not beat the limit
  /// (J).
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

/// How long a relaxed search may take: it has a core that the search itself could use.
class Allowance {
 public:
  double seconds() const { return seconds_; }
  void ran_out() { is_short_ = true; }

  /// Whether one that was too short is at least twice as long now, `elapsed` seconds after the
  /// first search began.
  bool grows_by(double elapsed) {
    if (!is_short_ || kShare * elapsed < 2 * seconds_) return false;
    seconds_ = kShare * elapsed;
    is_short_ = false;
    return true;
  }

 private:
  static constexpr double kShare = 0.1;
  double seconds_ = 1;
  bool is_short_ = false;
};

double bound_with(const BoundProblem& problem, const MapperOptions& options,
                  const InnerOperands& inside, double limit, MapperControl control) {
  const auto relaxed = relaxed_machine(problem, inside);
  if (!relaxed) return 0;
  double known = 0;
  const auto tell = std::exchange(control.bound, {});
  const auto take = [&](double bound) {
    bound = std::min(bound, limit) * (1 - kOtherOrder);
    if (!(bound > known)) return;  // nor where it is not a number
    known = bound;
    if (tell) tell(bound);
  };
  control.bound = take;
  if (std::isfinite(limit)) control.known_objective = limit;
  const auto outcome = FusedMapper().map(*relaxed, relaxed_options(options), control);
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
  return is_sequential(mapper, problem) && options.objectives.size() == 1 && options.top == 1 &&
         !options.resource_usage && !options.explore_einsum_orders &&
         options.policy == LatencyPolicy::kOverlap && factors_of(options) == Factors::kPerfect &&
         !may_override_keep(problem, options.constraints);
}

double relaxed_bound(const BoundProblem& problem, const MapperOptions& options, double limit,
                     const std::atomic<bool>* cancel, const std::function<void(double)>& tell) {
  MapperControl control;
  control.cancel = cancel;
  control.bound = tell;
  const InnerOperands inside = Insides(problem).under(options.objectives.front(), limit);
  return bound_with(problem, options, inside, limit, control);
}

RelaxedBound::RelaxedBound(const BoundProblem& problem, const MapperOptions& options,
                           const Incumbent& incumbent, const std::atomic<bool>* cancel,
                           std::function<void(double)> tell)
    : problem_(problem),
      options_(options),
      incumbent_(incumbent),
      tell_(std::move(tell)),
      watch_(std::nullopt, std::nullopt, cancel),
      thread_([this] { run(); }) {}

void RelaxedBound::run() {
  try {
    search();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void RelaxedBound::search() {
  constexpr double kHeadStart = 0.4, kStep = 0.1;  // s: an answer comes first
  constexpr double kRest = 10;                     // times what the last search took
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  Allowance allowance;
  std::optional<Insides> insides;
  std::optional<InnerOperands> last;
  double wait = kHeadStart, last_limit = 0;
  while (pause(wait)) {
    wait = kStep;
    const Clock::time_point start = Clock::now();
    const double limit = incumbent_.objective();
    const bool is_again = allowance.grows_by(seconds_since(began));
    if (limit == last_limit && !is_again) continue;
    last_limit = limit;
    if (!insides) insides.emplace(problem_);  // not where the search has ended at once
    InnerOperands inside = insides->under(options_.objectives.front(), limit);
    if (inside == last && !is_again) continue;
    {
      const BudgetWatch limited(allowance.seconds(), std::nullopt, watch_.flag());
      MapperControl control;
      control.cancel = limited.flag();
      control.bound = tell_;
      control.leftovers = &leftovers_;
      bound_with(problem_, options_, inside, limit, control);
      if (limited.ran_out()) allowance.ran_out();
    }
    if (!is_cancelled(watch_.flag())) leftovers_.clear();
    last = std::move(inside);
    wait = std::max(kStep, kRest * seconds_since(start));
  }
}

bool RelaxedBound::pause(double seconds) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double>(seconds),
                 [this] { return is_cancelled(watch_.flag()); });
  return !is_cancelled(watch_.flag());
}

void RelaxedBound::stop() {
  {
    const std::lock_guard lock(mutex_);
    watch_.stop();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RelaxedBound::finish(std::vector<std::shared_ptr<void>>* leftovers) {
  stop();
  if (leftovers != nullptr)
    leftovers->insert(leftovers->end(), leftovers_.begin(), leftovers_.end());
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace sluice
