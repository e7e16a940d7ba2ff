#include "order_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mapper/common/part_of_problem.h"
#include "mapper/request/einsum_orders.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

using MapperOutcome = tl::expected<MapperResult, NoMapping>;

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

/// A mapping of the Einsums in another order, in terms of `problem`.
MappedResult in_terms_of(const BoundProblem& problem, const std::vector<EinsumId>& order,
                         const MapperOptions& options, MappedResult mapped) {
  EinsumRenumbering(order).apply(mapped.mapping.nodes);
  auto cost = evaluate(problem, mapped.mapping, options.policy);
  SLUICE_CHECK(cost.has_value(), "a mapping in another order of the Einsums is illegal");
  mapped.cost = std::move(*cost);
  return mapped;
}

/// One run on the Einsums in another order, with the result in terms of `problem`.
MapperOutcome map_in_order(const Mapper& mapper, const BoundProblem& problem,
                           const std::vector<EinsumId>& order, MapperOptions options,
                           MapperControl control) {
  const BoundProblem reordered = part_of_problem(problem, order);
  options.constraints = renumbered(options.constraints, order);
  Incumbent* all_orders = control.incumbent;
  Incumbent own([&](double objective, const MappedResult& mapped) {
    all_orders->offer(objective, in_terms_of(problem, order, options, mapped));
  });
  if (all_orders != nullptr) control.incumbent = &own;
  MapperOutcome outcome = mapper.map(reordered, options, control);
  if (!outcome) {
    if (outcome.error().einsum) outcome.error().einsum = order[outcome.error().einsum->index()];
    return outcome;
  }
  for (MappedResult& mapped : outcome->mappings)
    mapped = in_terms_of(problem, order, options, std::move(mapped));
  return outcome;
}

/// What holds of the better of two orders: the weaker of their guarantees.
GuaranteeKind weaker(GuaranteeKind a, GuaranteeKind b) { return std::max(a, b); }
static_assert(GuaranteeKind::kOptimal < GuaranteeKind::kWithinEpsilon &&
              GuaranteeKind::kWithinEpsilon < GuaranteeKind::kGap &&
              GuaranteeKind::kGap < GuaranteeKind::kNone);

class OrderSearch {
 public:
  OrderSearch(const Mapper& mapper, const BoundProblem& problem, const MapperOptions& options,
              const MapperControl& control)
      : mapper_(mapper),
        problem_(problem),
        options_(options),
        control_(control),
        objective_(options.objectives.front()) {
    SLUICE_CHECK(options.objectives.size() == 1 && !options.resource_usage,
                 "exploring orders needs one objective");
    orders_ = einsum_orders(problem.workload, kMostEinsumOrders + 1);
    n_wanted_ = std::min(orders_.size(), kMostEinsumOrders);
  }

  MapperOutcome run() {
    for (std::size_t i = 0; i < n_wanted_ && !result_.cancelled; ++i) {
      result_.cancelled = is_cancelled(control_.cancel);
      if (!result_.cancelled && !is_budget_spent()) take(map(i));
    }
    return finish();
  }

 private:
  MapperOutcome map(std::size_t i) {
    MapperOptions options = options_;
    const auto orders_left = static_cast<double>(n_wanted_ - i);
    if (options.budget_evaluations)
      options.budget_evaluations = std::max(1.0, std::floor(evaluations_left() / orders_left));
    MapperControl control = control_;
    if (n_wanted_ > 1) control.bound = {};  // of one order alone
    if (const auto best = best_objective(); best && options_.top == 1)
      control.known_objective = std::min(*best, control.known_objective.value_or(*best));
    return i == 0 ? mapper_.map(problem_, options, control)
                  : map_in_order(mapper_, problem_, orders_[i], options, control);
  }

  double evaluations_left() const {
    return *options_.budget_evaluations - result_.search.mappings_evaluated;
  }
  bool is_budget_spent() const { return options_.budget_evaluations && evaluations_left() < 1; }

  std::optional<double> best_objective() const {
    if (result_.mappings.empty()) return std::nullopt;
    return objective_value(objective_, result_.mappings.front().cost);
  }

  void take(MapperOutcome outcome) {
    if (outcome) return take(std::move(*outcome));
    ++n_explored_;
    if (outcome.error().is_beaten) {
      is_beaten_ = true;
      return;
    }
    is_settled_ &= outcome.error().proven;
    if (!no_) no_ = std::move(outcome.error());
  }

  void take(MapperResult found) {
    add(found.search);
    if (found.cancelled)
      result_.cancelled = true;
    else
      ++n_explored_;
    take(found.guarantee, found.mappings);
    for (MappedResult& mapped : found.mappings) result_.mappings.push_back(std::move(mapped));
    std::stable_sort(result_.mappings.begin(), result_.mappings.end(),
                     [this](const MappedResult& a, const MappedResult& b) {
                       return objective_value(objective_, a.cost) <
                              objective_value(objective_, b.cost);
                     });
    const auto most = static_cast<std::size_t>(options_.top);
    if (result_.mappings.size() > most) result_.mappings.resize(most);
  }

  /// Of all orders the best is at least the least of what each one's mappings are at least.
  void take(const Guarantee& guarantee, const std::vector<MappedResult>& mappings) {
    double at_least = -std::numeric_limits<double>::infinity();
    if (guarantee.kind == GuaranteeKind::kGap)
      at_least = guarantee.bound;
    else if (!mappings.empty())
      at_least = objective_value(objective_, mappings.front().cost) / (1 + guarantee.epsilon);
    Guarantee& all = result_.guarantee;
    if (is_first_) {
      all = guarantee;
      all.bound = at_least;
    } else {
      all.kind = weaker(all.kind, guarantee.kind);
      all.bound = std::min(all.bound, at_least);
    }
    is_first_ = false;
  }

  void add(const SearchStatistics& from) {
    SearchStatistics& to = result_.search;
    for (ConvergencePoint point : from.convergence) {
      point.evaluations += to.mappings_evaluated;
      point.seconds += to.seconds;
      if (to.convergence.empty() || point.objective < to.convergence.back().objective)
        to.convergence.push_back(point);
    }
    if (to.ended_by.empty()) to.ended_by = from.ended_by;
    to.threads = from.threads;
    to.seconds += from.seconds;
    to.mappings_considered += from.mappings_considered;
    to.mappings_evaluated += from.mappings_evaluated;
    to.pmappings_kept += from.pmappings_kept;
    to.distinct_einsums = std::max(to.distinct_einsums, from.distinct_einsums);
  }

  MapperOutcome finish() {
    if (result_.mappings.empty() && !result_.cancelled) return tl::make_unexpected(nothing());
    Guarantee& guarantee = result_.guarantee;
    if (result_.cancelled || !is_settled_ || n_explored_ < n_wanted_)
      guarantee.kind = GuaranteeKind::kNone;
    if (guarantee.kind != GuaranteeKind::kGap) guarantee.bound = 0;
    guarantee.orders_explored = static_cast<int>(n_explored_);
    guarantee.orders_wanted = static_cast<int>(n_wanted_);
    guarantee.space += (guarantee.space.empty() ? "" : ", ") + orders_text();
    SearchStatistics& search = result_.search;
    if (!search.convergence.empty())
      search.convergence.push_back(
          {search.mappings_evaluated, search.seconds, search.convergence.back().objective});
    return std::move(result_);
  }

  /// Nothing is legal in any order, or nothing beats what was known before.
  NoMapping nothing() {
    NoMapping no;
    if (no_) no = std::move(*no_);
    no.proven = is_settled_ && n_explored_ == n_wanted_;
    no.is_beaten = is_beaten_;
    return no;
  }

  std::string orders_text() const {
    if (n_wanted_ == 1) return "the Einsums in the order written";
    if (n_explored_ < n_wanted_)
      return fmt::format("{} of {} orders of the Einsums", n_explored_, n_wanted_);
    return orders_.size() > n_wanted_ ? fmt::format("the first {} orders of the Einsums", n_wanted_)
                                      : fmt::format("all {} orders of the Einsums", n_wanted_);
  }

  const Mapper& mapper_;
  const BoundProblem& problem_;
  const MapperOptions& options_;
  const MapperControl& control_;
  Objective objective_;
  std::vector<std::vector<EinsumId>> orders_;
  std::size_t n_wanted_ = 0, n_explored_ = 0;
  bool is_first_ = true;
  bool is_settled_ = true;  ///< every no is proven
  bool is_beaten_ = false;
  std::optional<NoMapping> no_;
  MapperResult result_;
};

}  // namespace

MapperOutcome map_in_all_orders(const Mapper& mapper, const BoundProblem& problem,
                                const MapperOptions& options, const MapperControl& control) {
  return OrderSearch(mapper, problem, options, control).run();
}

}  // namespace sluice
