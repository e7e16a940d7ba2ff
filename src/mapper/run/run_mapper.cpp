#include "sluice/mapper/run_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "mapper/strategies/sampling_mappers.h"
#include "order_search.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/selection.h"

namespace sluice {
namespace {

using MapperOutcome = tl::expected<MapperResult, NoMapping>;

/// Sets a flag when a time is over or another flag is set, whichever is first.
class BudgetWatch {
 public:
  BudgetWatch(double seconds, const std::atomic<bool>* cancel)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(std::min(seconds, kLongest)))),
        cancel_(cancel),
        thread_([this] { watch(); }) {}
  ~BudgetWatch() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  BudgetWatch(const BudgetWatch&) = delete;
  BudgetWatch& operator=(const BudgetWatch&) = delete;

  const std::atomic<bool>* flag() const { return &stop_; }
  bool ran_out() const { return ran_out_; }

 private:
  static constexpr double kLongest = 1e8;  ///< three years; beyond it clocks overflow

  void watch() {
    constexpr std::chrono::milliseconds kStep(10);
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kStep, [this] { return done_; })) {
      const bool cancelled = is_cancelled(cancel_);
      const bool is_over = std::chrono::steady_clock::now() >= end_;
      if (!cancelled && !is_over) continue;
      ran_out_ = !cancelled;
      stop_ = true;
      return;
    }
  }

  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* cancel_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ran_out_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  ///< last: it uses all of the others
};

MapperOutcome map_orders(const Mapper& mapper, const BoundProblem& problem,
                         const MapperOptions& options, const MapperControl& control) {
  if (options.explore_einsum_orders) return map_in_all_orders(mapper, problem, options, control);
  return mapper.map(problem, options, control);
}

/// The known mapping may be one of another space: where nothing here beats it, the search starts
/// again without it.
MapperOutcome map_from_known(const Mapper& mapper, const BoundProblem& problem,
                             const MapperOptions& options, const MapperControl& control) {
  MapperOutcome outcome = map_orders(mapper, problem, options, control);
  if (outcome || !outcome.error().is_beaten) return outcome;
  MapperControl afresh = control;
  afresh.known_objective.reset();
  return map_orders(mapper, problem, options, afresh);
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

/// Names the constraints without any one of which something would be left. A search that ends
/// before it is known leaves the no as it is: it is proven already.
NoMapping blame_constraints(const Mapper& mapper, const BoundProblem& problem,
                            const MapperOptions& options, const MapperControl& control,
                            NoMapping no) {
  MapperControl afresh = control;
  afresh.known_objective.reset();
  const auto feasible = [&](const Constraints& constraints) {
    MapperOptions tried = options;
    tried.constraints = constraints;
    const MapperOutcome outcome = map_orders(mapper, problem, tried, afresh);
    return outcome && !outcome->mappings.empty();
  };
  if (options.constraints == Constraints{} || !feasible(Constraints{})) return no;
  std::string guilty, all;
  for_each_left_out(options.constraints, [&](const std::string& name, const Constraints& others) {
    all += (all.empty() ? "" : ", ") + name;
    if (!is_cancelled(control.cancel) && feasible(others))
      guilty += (guilty.empty() ? "" : ", ") + name;
  });
  if (is_cancelled(control.cancel)) guilty.clear();
  const std::string names = guilty.empty() ? all : guilty;
  no.reason = fmt::format("constraints leave no mapping: {} ({})", names, no.reason);
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
  if (outcome || is_cancelled(control.cancel) || !outcome.error().proven) return outcome;
  return tl::make_unexpected(
      blame_constraints(mapper, problem, options, control, std::move(outcome.error())));
}

/// A search that proves looks at everything once before it has a mapping. Where the budget ends
/// before that: the best of some that are drawn, for as long again (or a second), and a bound.
MapperOutcome draw_instead(const BoundProblem& problem, const MapperOptions& options,
                           const MapperControl& control) {
  MapperOptions few = options;
  few.budget_seconds.reset();
  few.budget_evaluations = 1000;
  const BudgetWatch watch(std::max(*options.budget_seconds, 1.0), control.cancel);
  MapperControl limited = control;
  limited.cancel = watch.flag();
  MapperOutcome drawn = RandomMapper().map(problem, few, limited);
  if (!drawn || drawn->mappings.empty()) return drawn;
  drawn->cancelled = is_cancelled(control.cancel);
  drawn->guarantee.kind = GuaranteeKind::kGap;
  drawn->guarantee.bound = objective_bound(options.objectives.front(), problem.bounds);
  return drawn;
}

NoMapping nothing_in_time(double seconds) {
  NoMapping no;
  no.reason = fmt::format("the budget of {:g} s ended before a mapping was found", seconds);
  no.nearest_relaxation = "a larger --budget";
  no.proven = false;
  return no;
}

}  // namespace

tl::expected<MapperResult, NoMapping> run_mapper(const Mapper& mapper, const BoundProblem& problem,
                                                 const MapperOptions& options,
                                                 const MapperControl& control,
                                                 const MapperRegistry& mappers) {
  if (auto no = refused_request(mapper, problem, options, mappers))
    return tl::make_unexpected(std::move(*no));
  if (!options.budget_seconds) return map_and_blame(mapper, problem, options, control);
  const BudgetWatch watch(*options.budget_seconds, control.cancel);
  MapperControl limited = control;
  limited.cancel = watch.flag();
  MapperOutcome outcome = map_and_blame(mapper, problem, options, limited);
  if (!outcome || !outcome->cancelled || !watch.ran_out()) return outcome;
  if (outcome->mappings.empty() && mapper.name() == "fused") {
    MapperOutcome drawn = draw_instead(problem, options, control);
    if (drawn && !drawn->mappings.empty()) return drawn;
  }
  if (outcome->mappings.empty())
    return tl::make_unexpected(nothing_in_time(*options.budget_seconds));
  outcome->cancelled = false;
  if (outcome->guarantee.kind != GuaranteeKind::kGap)  // a bound holds whatever was searched
    outcome->guarantee.kind = GuaranteeKind::kNone;
  return outcome;
}

}  // namespace sluice
