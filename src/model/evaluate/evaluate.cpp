#include "sluice/model/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/evaluate/part_totals.h"
#include "model/evaluate/take_apart.h"
#include "model/latency/counted_nests.h"
#include "model/latency/staged_policy.h"
#include "model/legality/legality.h"
#include "model/occupancy/occupancy.h"
#include "model/price/nest_pricer.h"
#include "model/shipment/shipment.h"
#include "model/traffic/traffic.h"
#include "model/tree/lookups.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// Counts and prices every nest of a legal mapping. `rows` may be null.
NestPricer price(const BoundProblem& problem, const FlatTree& tree, Cost* rows,
                 double leak_factor = 1) {
  NestPricer pricer(problem, tree, rows, leak_factor);
  const std::vector<Shipment> shipments = shipments_of(problem, tree);
  NestTraffic traffic;
  for (const Nest& nest : tree.nests) {
    count_traffic(problem, tree, nest, rows != nullptr, &traffic);
    pricer.add(nest, traffic, shipments);
  }
  return pricer;
}

/// As price(); components leak as long as the pipelined and parallel splits let it last.
NestPricer price_overlapped(const BoundProblem& problem, const FlatTree& tree, Cost* rows) {
  if (tree.concurrent.empty()) return price(problem, tree, rows);
  const NestPricer alone = price(problem, tree, nullptr);
  const bool any = alone.sequential_latency_s() > 0;
  return price(problem, tree, rows, any ? alone.latency_s() / alone.sequential_latency_s() : 1);
}

/// Einsums that exchange a tensor below the outermost memory belong to one group.
std::vector<std::vector<EinsumId>> fusion_groups(const BoundProblem& problem,
                                                 const FlatTree& tree) {
  std::optional<ComponentId> outermost;
  for (std::size_t c = 0; c < problem.arch.components.size() && !outermost; ++c)
    if (problem.arch.components[c].is_memory()) outermost = ComponentId(c);
  std::vector<std::size_t> joined(tree.nests.size());  // each to one before it, or to itself
  std::iota(joined.begin(), joined.end(), 0);
  const auto group_of = [&](std::size_t place) {
    while (joined[place] != place) place = joined[place] = joined[joined[place]];
    return place;
  };
  for (std::size_t t = 0; t < problem.workload.tensors.size(); ++t) {
    if (!problem.roles.is_intermediate(TensorId(t))) continue;
    const auto place = [&](EinsumId e) {
      return static_cast<std::size_t>(tree.place_of[e.index()]);
    };
    const std::vector<EinsumId> users = problem.roles.users(TensorId(t));
    const std::size_t producer = place(users.front());
    const NestStorage* backing = backing_of(problem, tree, tree.nests[producer], TensorId(t));
    if (!backing || backing->component == outermost) continue;
    for (EinsumId user : users) {
      const std::size_t from = group_of(place(user)), to = group_of(producer);
      joined[std::max(from, to)] = std::min(from, to);
    }
  }
  std::vector<std::vector<EinsumId>> members(tree.nests.size());
  for (std::size_t n = 0; n < tree.nests.size(); ++n)
    members[group_of(n)].push_back(tree.nests[n].einsum);
  std::erase_if(members, [](const std::vector<EinsumId>& group) { return group.empty(); });
  return members;
}

void fill_occupancy(const BoundProblem& problem, const Occupancy& occupancy, Cost& cost) {
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (problem.arch.components[c].is_memory())
      cost.occupancy.push_back(
          {ComponentId(c), occupancy.peak_bits[c], occupancy.capacity_bits[c]});
}

/// Moves the capacity violations out of a report.
std::vector<Violation> take_capacity(std::vector<Violation>& all) {
  const auto middle = std::stable_partition(all.begin(), all.end(), [](const Violation& v) {
    return v.kind != ViolationKind::kCapacity;
  });
  std::vector<Violation> capacity(std::make_move_iterator(middle),
                                  std::make_move_iterator(all.end()));
  all.erase(middle, all.end());
  return capacity;
}

/// Energies, and the latency of a policy; `breakdown` adds up to it (none under `overlap`).
struct TimedPrice {
  LatencyBreakdown breakdown;
  double latency_s = 0;
  NestPricer pricer;
};

TimedPrice price_as_overlap(const BoundProblem& problem, const FlatTree& tree, Cost* rows) {
  NestPricer pricer = price_overlapped(problem, tree, rows);
  const double latency_s = pricer.latency_s();
  return {{}, latency_s, std::move(pricer)};
}

/// `detailed`: as count_traffic has it. `rows` may be null.
CountedNests count_nests(const BoundProblem& problem, const FlatTree& tree,
                         const Occupancy& occupancy, bool detailed, Cost* rows) {
  CountedNests counted{tree, occupancy, std::vector<NestTraffic>(tree.nests.size()),
                       shipments_of(problem, tree), NestPricer(problem, tree, rows)};
  for (std::size_t n = 0; n < tree.nests.size(); ++n) {
    count_traffic(problem, tree, tree.nests[n], detailed, &counted.traffic[n]);
    counted.overlapped.add(tree.nests[n], counted.traffic[n], counted.shipments);
  }
  return counted;
}

/// Seconds of all parts; nothing where there are none.
std::optional<double> total_seconds(const LatencyBreakdown& breakdown) {
  if (breakdown.empty()) return std::nullopt;
  double seconds = 0;
  for (const LatencyPart& part : breakdown) {
    SLUICE_CHECK(part.seconds >= 0, "a latency policy's part '" + part.name + "' below 0");
    seconds += part.seconds;
  }
  return seconds;
}

/// The same counts, timed by another policy than `overlap`. `rows` may be null.
TimedPrice price_timed(const BoundProblem& problem, const Mapping& mapping, const FlatTree& tree,
                       const Occupancy& occupancy, LatencyPolicy policy, Cost* rows) {
  const CountedNests nests = count_nests(problem, tree, occupancy, true, nullptr);
  const CountedMapping counted(problem, mapping, nests);
  LatencyBreakdown breakdown = policy.method().latency(counted);
  const double latency_s = total_seconds(breakdown).value_or(counted.overlap_s());
  const double sequential_s = nests.overlapped.sequential_latency_s();
  NestPricer pricer(problem, tree, rows, sequential_s > 0 ? latency_s / sequential_s : 1);
  for (std::size_t n = 0; n < tree.nests.size(); ++n)
    pricer.add(tree.nests[n], nests.traffic[n], nests.shipments);
  return {std::move(breakdown), latency_s, std::move(pricer)};
}

TimedPrice price_under(const BoundProblem& problem, const Mapping& mapping, const FlatTree& tree,
                       const Occupancy& occupancy, LatencyPolicy policy, Cost* rows) {
  return policy == LatencyPolicy::kOverlap
             ? price_as_overlap(problem, tree, rows)
             : price_timed(problem, mapping, tree, occupancy, policy, rows);
}

/// The same terms added in another order: a bound that is above by roundings alone is met.
void meet_bounds(Cost* cost) {
  constexpr double kRoundings = 1 + 1e-12;
  const auto meet = [](double value, double* bound) {
    if (value < *bound && *bound <= value * kRoundings) *bound = value;
  };
  meet(cost->latency_s, &cost->bounds.compute_s);
  meet(cost->latency_s, &cost->bounds.memory_s);
  meet(cost->energy_j, &cost->bounds.energy_floor_j);
}

Cost full_cost(const BoundProblem& problem, const Mapping& mapping, const FlatTree& tree,
               const Occupancy& occupancy, LatencyPolicy policy) {
  Cost cost;
  cost.energy.reserve(2 * tree.storages.size() +
                      tree.nests.size() * (problem.arch.components.size() + 4));
  cost.latency.reserve(tree.nests.size() * problem.arch.components.size());
  TimedPrice price = price_under(problem, mapping, tree, occupancy, policy, &cost);
  const NestPricer& pricer = price.pricer;
  cost.energy_j = pricer.energy_j();
  cost.latency_s = price.latency_s;
  cost.breakdown = std::move(price.breakdown);
  cost.leak_energy_j = pricer.leak_energy_j();
  cost.unpriced_merge_values = pricer.merge_values();
  cost.padding_values = pricer.padding_values();
  if (problem.arch.clock_hz) cost.latency_cycles = cost.latency_s * *problem.arch.clock_hz;
  cost.area_m2 = problem.area_m2;
  fill_occupancy(problem, occupancy, cost);
  cost.bounds = tree.concurrent.empty() ? problem.bounds : concurrent_bounds(problem);
  meet_bounds(&cost);
  cost.fusion_groups = fusion_groups(problem, tree);
  return cost;
}

/// `; overlap and staged can.`: the policies of the model that `can` says it of.
std::string others_can(bool (LatencyMethod::*can)() const) {
  std::vector<std::string> able;
  for (const auto& method : standard_latency_policies())
    if ((*method.*can)()) able.push_back(method->name());
  return fmt::format("; {} can.", fmt::join(able, " and "));
}

/// What the policy has no times for.
void refuse_unpriced(const FlatTree& tree, const LatencyMethod& policy, ViolationReport& report) {
  const auto refuse = [&](const Node* node, const std::string& what, auto can) {
    report.add(
        ViolationKind::kUnsupportedNode, node,
        fmt::format("The policy {} cannot price {}{}", policy.name(), what, others_can(can)));
  };
  if (!policy.prices_collectives())
    for (const FlatCollective& flat : tree.collectives)
      refuse(flat.node, "the collective on " + report.name(flat.collective->tensor),
             &LatencyMethod::prices_collectives);
  if (!policy.prices_concurrent_splits())
    for (const ConcurrentSplit& split : tree.concurrent)
      refuse(split.node,
             split.split->kind == SplitKind::kPipeline ? "a pipelined split" : "a parallel split",
             &LatencyMethod::prices_concurrent_splits);
}

struct LegalTree {
  FlatTree tree;
  Occupancy occupancy;
};

/// Nothing for a mapping that is illegal or that the policy cannot price.
std::optional<LegalTree> take_apart_legal(const BoundProblem& problem, const Mapping& mapping,
                                          LatencyPolicy policy) {
  ViolationReport report(problem, mapping);
  FlatTree tree = take_apart(problem, mapping, report);
  check_legality(problem, tree, report);
  refuse_unpriced(tree, policy.method(), report);
  if (report.has(ViolationKind::kUnsupportedNode)) return std::nullopt;
  Occupancy occupancy = check_capacities(problem, tree, report);
  if (!report.empty()) return std::nullopt;
  return LegalTree{std::move(tree), std::move(occupancy)};
}

/// As evaluate_ignoring_capacity, where every time is known.
tl::expected<Cost, std::vector<Violation>> evaluate_known(const BoundProblem& problem,
                                                          const Mapping& mapping,
                                                          std::vector<Violation>* violations,
                                                          LatencyPolicy policy) {
  ViolationReport report(problem, mapping);
  FlatTree tree = take_apart(problem, mapping, report);
  check_legality(problem, tree, report);
  refuse_unpriced(tree, policy.method(), report);
  if (report.has(ViolationKind::kUnsupportedNode))
    return tl::unexpected(std::move(report.violations()));
  const Occupancy occupancy = check_capacities(problem, tree, report);
  std::vector<Violation> capacity = take_capacity(report.violations());
  if (!report.empty()) {
    std::vector<Violation> all = std::move(report.violations());
    std::move(capacity.begin(), capacity.end(), std::back_inserter(all));
    return tl::unexpected(std::move(all));
  }
  *violations = std::move(capacity);
  return full_cost(problem, mapping, tree, occupancy, policy);
}

}  // namespace

Cost CountedMapping::overlap_account() const {
  return full_cost(problem_, mapping_, nests_.tree, nests_.occupancy, LatencyPolicy::kOverlap);
}

tl::expected<Cost, std::vector<Violation>> evaluate_ignoring_capacity(
    const BoundProblem& problem, const Mapping& mapping, std::vector<Violation>* violations,
    LatencyPolicy policy) {
  if (unknown_times(problem.arch).empty())
    return evaluate_known(problem, mapping, violations, policy);
  BoundProblem known = problem;
  known.arch = with_unlimited_times(std::move(known.arch));
  auto cost = evaluate_known(known, mapping, violations, policy);
  if (cost) forget_unknown_times(problem, &*cost);
  return cost;
}

tl::expected<Cost, std::vector<Violation>> evaluate(const BoundProblem& problem,
                                                    const Mapping& mapping, LatencyPolicy policy) {
  std::vector<Violation> capacity;
  auto cost = evaluate_ignoring_capacity(problem, mapping, &capacity, policy);
  if (cost && !capacity.empty()) return tl::unexpected(std::move(capacity));
  return cost;
}

std::optional<CostTotals> evaluate_totals(const BoundProblem& problem, const Mapping& mapping,
                                          LatencyPolicy policy) {
  if (!unknown_times(problem.arch).empty()) {
    const auto cost = evaluate(problem, mapping, policy);
    if (!cost) return std::nullopt;
    CostTotals totals{cost->energy_j, cost->latency_s, {}};
    totals.peak_bits.resize(problem.arch.components.size());
    for (const OccupancyRow& row : cost->occupancy)
      totals.peak_bits[row.component.index()] = row.peak_bits;
    return totals;
  }
  auto legal = take_apart_legal(problem, mapping, policy);
  if (!legal) return std::nullopt;
  const TimedPrice price =
      price_under(problem, mapping, legal->tree, legal->occupancy, policy, nullptr);
  return CostTotals{price.pricer.energy_j(), price.latency_s,
                    std::move(legal->occupancy.peak_bits)};
}

std::optional<AdditiveTotals> evaluate_additive(const BoundProblem& problem, const Mapping& mapping,
                                                LatencyPolicy policy, bool by_component) {
  auto legal = take_apart_legal(problem, mapping, policy);
  if (!legal) return std::nullopt;
  const FlatTree& tree = legal->tree;
  Cost rows;
  const CountedNests nests = count_nests(problem, tree, legal->occupancy,
                                         by_component || policy != LatencyPolicy::kOverlap,
                                         by_component ? &rows : nullptr);
  const CountedMapping counted(problem, mapping, nests);
  const NestPricer& pricer = nests.overlapped;
  AdditiveTotals totals;
  totals.dynamic_j = pricer.energy_j() - pricer.leak_energy_j();
  const double sequential_s = pricer.sequential_latency_s();
  totals.leak_w = sequential_s > 0 ? pricer.leak_energy_j() / sequential_s : 0;
  totals.overlap_s = pricer.latency_s();
  totals.policy_s = totals.overlap_s;
  if (policy == LatencyPolicy::kStaged) {
    const StageTotals stages = stage_totals(counted);
    totals.policy_s = stages.seconds;
    totals.windows = stages.windows;
    totals.window_s = stages.window_s;
  } else if (const auto seconds = total_seconds(policy.method().latency(counted))) {
    totals.policy_s = totals.overlap_s = *seconds;  // never compared with `overlap`
  }
  totals.peak_bits = std::move(legal->occupancy.peak_bits);
  if (!by_component) return totals;
  totals.busy_s.assign(problem.arch.components.size(), 0);
  for (const LatencyRow& row : rows.latency) totals.busy_s[row.component.index()] += row.latency_s;
  return totals;
}

std::vector<StallRow> staged_stalls(const BoundProblem& problem, const Mapping& mapping) {
  const auto legal = take_apart_legal(problem, mapping, LatencyPolicy::kStaged);
  if (!legal) return {};
  const CountedNests nests = count_nests(problem, legal->tree, legal->occupancy, true, nullptr);
  return stall_rows(CountedMapping(problem, mapping, nests));
}

PartTime unchecked_overlap(const BoundProblem& problem, const Mapping& mapping) {
  ViolationReport report(problem, mapping);
  const FlatTree tree = take_apart(problem, mapping, report);
  if (tree.nests.size() != 1 || !tree.forwards.empty() ||
      report.has(ViolationKind::kUnsupportedNode))
    return {};
  for (const FlatCollective& flat : tree.collectives) {
    const Nest* maker = nest_of_maker(problem, tree, flat.collective->tensor);
    if (!maker || !plan_collective(problem, tree, flat, *maker)) return {};
  }
  const NestPricer pricer = count_nests(problem, tree, Occupancy{}, false, nullptr).overlapped;
  return {pricer.sequential_latency_s(),
          pricer.times().empty() ? std::vector<double>{} : pricer.times().front().busy_s};
}

}  // namespace sluice
