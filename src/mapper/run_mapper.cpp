#include "sluice/mapper/run_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"

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

/// The Einsum ids of a mapping through a table.
class EinsumRenumbering {
 public:
  explicit EinsumRenumbering(const std::vector<EinsumId>& new_ids) : new_ids_(new_ids) {}

  void apply(NodeList& nodes) const {
    for (Node& node : nodes) std::visit([this](auto& kind) { renumber(kind); }, node.kind);
  }

 private:
  void renumber(StorageNode& node) const {
    for (EinsumId& einsum : node.einsums) einsum = new_ids_[einsum.index()];
  }
  void renumber(TemporalNode&) const {}
  void renumber(SpatialNode&) const {}
  void renumber(CollectiveNode&) const {}
  void renumber(ComputeNode& node) const { node.einsum = new_ids_[node.einsum.index()]; }
  void renumber(SplitNode& node) const {
    for (NodeList& child : node.children) apply(child);
  }

  const std::vector<EinsumId>& new_ids_;
};

/// Constraints name Einsums by their ids, which another order changes.
Constraints renumbered(Constraints constraints, const std::vector<EinsumId>& order) {
  std::vector<EinsumId> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i].index()] = EinsumId(i);
  const auto apply = [&place](auto& list) {
    for (auto& constraint : list)
      if (constraint.einsum) constraint.einsum = place[constraint.einsum->index()];
  };
  apply(constraints.storage);
  apply(constraints.tiles);
  apply(constraints.spatial);
  apply(constraints.loop_orders);
  for (ScheduleConstraint& schedule : constraints.schedules)
    for (EinsumId& einsum : schedule.einsums) einsum = place[einsum.index()];
  return constraints;
}

/// One run on the Einsums in another order, with the result in terms of `problem`.
MapperOutcome map_in_order(const Mapper& mapper, const BoundProblem& problem,
                           const std::vector<EinsumId>& order, MapperOptions options,
                           const MapperControl& control) {
  Workload workload = problem.workload;
  for (std::size_t i = 0; i < order.size(); ++i) workload.einsums[i] = problem.workload[order[i]];
  const auto reordered = bind(workload, problem.arch);
  SLUICE_CHECK(reordered.has_value(), "a workload that was bound does not bind in another order");
  options.constraints = renumbered(options.constraints, order);
  MapperOutcome outcome = mapper.map(*reordered, options, control);
  if (!outcome) {
    if (outcome.error().einsum) outcome.error().einsum = order[outcome.error().einsum->index()];
    return outcome;
  }
  for (MappedResult& mapped : outcome->mappings) {
    EinsumRenumbering(order).apply(mapped.mapping.nodes);
    auto cost = evaluate(problem, mapped.mapping, options.policy);
    SLUICE_CHECK(cost.has_value(), "a mapping in another order of the Einsums is illegal");
    mapped.cost = std::move(*cost);
  }
  return outcome;
}

void add_statistics(const SearchStatistics& from, SearchStatistics& to) {
  to.seconds += from.seconds;
  to.mappings_considered += from.mappings_considered;
  to.mappings_evaluated += from.mappings_evaluated;
  to.pmappings_kept += from.pmappings_kept;
}

MapperOutcome map_in_all_orders(const Mapper& mapper, const BoundProblem& problem,
                                const MapperOptions& options, const MapperControl& control) {
  SLUICE_CHECK(options.objectives.size() == 1 && !options.resource_usage,
               "exploring orders needs one objective");
  const auto orders = einsum_orders(problem.workload, kMostEinsumOrders + 1);
  const std::size_t n_tried = std::min(orders.size(), kMostEinsumOrders);
  MapperOutcome best = mapper.map(problem, options, control);
  const Objective objective = options.objectives.front();
  for (std::size_t i = 1; i < n_tried; ++i) {
    if (is_cancelled(control.cancel)) break;
    MapperOutcome next = map_in_order(mapper, problem, orders[i], options, control);
    if (!next) continue;
    if (best && next->guarantee.kind != best->guarantee.kind)
      next->guarantee.kind = best->guarantee.kind = GuaranteeKind::kNone;
    if (best) add_statistics(best->search, next->search);
    const bool is_better =
        !best || best->mappings.empty() ||
        (!next->mappings.empty() && objective_value(objective, next->mappings.front().cost) <
                                        objective_value(objective, best->mappings.front().cost));
    if (is_better)
      best = std::move(next);
    else
      best->search = next->search;
  }
  if (!best) return best;
  best->guarantee.orders_explored = static_cast<int>(n_tried);
  best->guarantee.space += orders.size() > n_tried
                               ? fmt::format(", the first {} orders of the Einsums", n_tried)
                               : fmt::format(", all {} orders of the Einsums", n_tried);
  return best;
}

MapperOutcome map_orders(const Mapper& mapper, const BoundProblem& problem,
                         const MapperOptions& options, const MapperControl& control) {
  if (options.explore_einsum_orders) return map_in_all_orders(mapper, problem, options, control);
  return mapper.map(problem, options, control);
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

/// Names the constraints without any one of which something would be left.
NoMapping blame_constraints(const Mapper& mapper, const BoundProblem& problem,
                            const MapperOptions& options, const MapperControl& control,
                            NoMapping no) {
  const auto feasible = [&](const Constraints& constraints) {
    MapperOptions tried = options;
    tried.constraints = constraints;
    return map_orders(mapper, problem, tried, control).has_value();
  };
  if (options.constraints == Constraints{} || !feasible(Constraints{})) return no;
  std::string guilty, all;
  for_each_left_out(options.constraints, [&](const std::string& name, const Constraints& others) {
    all += (all.empty() ? "" : ", ") + name;
    if (feasible(others)) guilty += (guilty.empty() ? "" : ", ") + name;
  });
  const std::string names = guilty.empty() ? all : guilty;
  no.reason = fmt::format("constraints leave no mapping: {} ({})", names, no.reason);
  no.nearest_relaxation =
      guilty.empty() ? "loosen several of them: " + names : "leave out or loosen " + names;
  return no;
}

MapperOutcome map_and_blame(const Mapper& mapper, const BoundProblem& problem,
                            const MapperOptions& options, const MapperControl& control) {
  MapperOutcome outcome = map_orders(mapper, problem, options, control);
  if (outcome || is_cancelled(control.cancel) || !outcome.error().proven) return outcome;
  return tl::make_unexpected(
      blame_constraints(mapper, problem, options, control, std::move(outcome.error())));
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
                                                 const MapperControl& control) {
  if (!options.budget_seconds) return map_and_blame(mapper, problem, options, control);
  const BudgetWatch watch(*options.budget_seconds, control.cancel);
  MapperControl limited = control;
  limited.cancel = watch.flag();
  MapperOutcome outcome = map_and_blame(mapper, problem, options, limited);
  if (!watch.ran_out() || (outcome && !outcome->cancelled)) return outcome;
  if (!outcome || outcome->mappings.empty())
    return tl::make_unexpected(nothing_in_time(*options.budget_seconds));
  outcome->cancelled = false;
  if (outcome->guarantee.kind != GuaranteeKind::kGap)  // a bound holds whatever was searched
    outcome->guarantee.kind = GuaranteeKind::kNone;
  return outcome;
}

}  // namespace sluice
