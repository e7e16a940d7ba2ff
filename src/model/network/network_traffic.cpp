#include "model/network/network_traffic.h"

#include <algorithm>

#include "model/tree/finish_nests.h"
#include "model/tree/regions.h"
#include "model/visits/first_sights.h"
#include "sluice/support/checked.h"

namespace sluice {

/// A transfer on one network.
struct NetworkCounter::Crossing {
  const Transfer& transfer;
  const PathNetwork& network;
  const Network& kind;
  std::vector<std::int64_t> fanouts;
  std::vector<std::int64_t> first;  ///< node where the loops begin, per dimension; empty: node 0
  std::vector<RouteLoop> route_loops;
  std::vector<int> nest_loops;   ///< index of each route loop in the nest
  std::optional<Transfer> held;  ///< repeated values are free: the transfer that pays hops
};

void NetworkCounter::add(const Transfer& transfer) {
  for (const PathNetwork& network : nest_.compute->networks)
    if (transfer.parent.depth < network.depth && network.depth < transfer.child.depth)
      cross(network, transfer);
}

void NetworkCounter::cross(const PathNetwork& network, const Transfer& transfer) {
  const Network& kind = std::get<Network>(problem_.arch[network.network].kind);
  Crossing crossing{transfer, network, kind, {}, {}, {}, {}, {}};
  if (network.fanned) {
    for (const BoundSpatial& dimension : einsum_.components[network.fanned->index()].spatial)
      crossing.fanouts.push_back(dimension.fanout);
    crossing.first = first_instance(tree_, nest_, *network.fanned, crossing.fanouts.size());
  }
  for (int l = transfer.parent.n_loops; l < transfer.child.n_loops; ++l) {
    const NestLoop& loop = loops_[l];
    if (!loop.spatial || loop.trips == 1 || loop.component != network.fanned) continue;
    const BoundSpatial& dimension =
        einsum_.components[loop.component.index()].spatial[loop.dimension];
    const bool indexed = transfer.access->relevance[static_cast<std::size_t>(loop.variable)] !=
                         Relevance::kIrrelevant;
    const bool may_reuse = (dimension.may_reuse >> transfer.access->tensor) & 1;
    crossing.route_loops.push_back({loop.dimension, loop.trips, indexed || !may_reuse});
    crossing.nest_loops.push_back(l);
  }
  if (kind.repeated_values == RepeatedValues::kFree) crossing.held = held_behind(network, transfer);
  NetworkTraffic& record = record_of(network.network, transfer.access->tensor);
  const bool returns = transfer.access->is_output && transfer.skip_first_down;
  if (transfer.down && !(returns && kind.returning_sums == ReturningSums::kFree)) {
    book(crossing, false, 1, record.down_loads, record);
    if (transfer.skip_first_down) book(crossing, true, -1, record.down_loads, record);
  }
  if (transfer.up) book(crossing, false, 1, record.up_loads, record);
}

/// The transfer as if what stands right behind the network's instances kept its tile and fetched
/// what is new in it; none where the child stands there itself.
std::optional<Transfer> NetworkCounter::held_behind(const PathNetwork& network,
                                                    const Transfer& transfer) {
  const Einsum& einsum = problem_.workload[nest_.einsum];
  const int n_loops_of_child = transfer.child.n_loops;
  int n_loops = -1;
  for (int l = transfer.parent.n_loops; l < n_loops_of_child; ++l)
    if (loops_[l].spatial && loops_[l].component == network.fanned) n_loops = l + 1;
  const bool is_compute =
      transfer.child.depth == nest_.compute->depth[nest_.compute->component.index()];
  if (n_loops < 0 || einsum.is_copy_operation || (n_loops == n_loops_of_child && !is_compute))
    return std::nullopt;
  tiles_.clear();
  for (const VariableRange& range : einsum.iteration_space) tiles_.push_back(range.size);
  for (int l = 0; l < n_loops; ++l)
    tiles_[static_cast<std::size_t>(loops_[l].variable)] = loops_[l].tile;
  Transfer held = transfer;
  held.child = {transfer.child.depth, n_loops, -1};
  held.volume = tile_volume(*transfer.access, tiles_.data());
  held.refetched = refetches(*transfer.access, tiles_.data(), loops_, n_loops);
  return held;
}

bool NetworkCounter::is_windowed(const Transfer& transfer) const {
  return transfer.access->is_output &&
         moves_windows(*transfer.access, loops_, transfer.child.n_loops);
}

NetworkTraffic& NetworkCounter::record_of(ComponentId network, int tensor) {
  for (NetworkTraffic& known : result_)
    if (known.network == network && known.tensor == tensor) return known;
  NetworkTraffic& record = result_.emplace_back();
  record.network = network;
  record.tensor = tensor;
  return record;
}

void NetworkCounter::book(const Crossing& crossing, bool first_visits, std::int64_t sign,
                          std::vector<std::int64_t>& loads, NetworkTraffic& record) const {
  if (nest_.perfect)
    book_whole(crossing, first_visits, sign, loads, record);
  else
    book_groups(crossing, first_visits, sign, loads, record);
}

namespace {

/// `hopping`: of the values `all`, how many pay hops.
void add_routes(const Routes& routes, std::int64_t all, std::int64_t unit, std::int64_t hopping,
                std::vector<std::int64_t>& loads, NetworkTraffic& record) {
  record.deliveries = checked_add(record.deliveries, checked_multiply(all, routes.deliveries));
  record.half_hops = checked_add(record.half_hops, checked_multiply(hopping, routes.half_hops));
  record.unit_deliveries =
      checked_add(record.unit_deliveries, checked_multiply(unit, routes.deliveries));
  record.unit_sent = checked_add(record.unit_sent, checked_multiply(unit, routes.groups));
  loads.resize(std::max(loads.size(), routes.entry_loads.size()));
  for (std::size_t link = 0; link < routes.entry_loads.size(); ++link)
    loads[link] = checked_add(loads[link], checked_multiply(unit, routes.entry_loads[link]));
}

}  // namespace

/// Values of a transfer that enter the network, or its busiest instance; all tiles are whole.
std::int64_t NetworkCounter::moved(const Crossing& crossing, const Transfer& transfer,
                                   bool first_visits, bool busiest) const {
  if (first_visits && is_windowed(transfer)) {
    const std::vector<LoopEffect> counted = effects(crossing, transfer, first_visits, busiest);
    return first_sights(loops_, counted.data(), transfer.child.n_loops, *transfer.access,
                        problem_.workload[nest_.einsum].iteration_space);
  }
  const bool is_whole = !transfer.refetched || first_visits;
  std::int64_t values = is_whole ? transfer.volume : transfer.refetched->values;
  for (int l = 0; l < transfer.child.n_loops; ++l)
    if ((is_whole || loops_[l].spatial) &&
        effect(crossing, transfer, first_visits, busiest, l) == LoopEffect::kEvery)
      values = checked_multiply(values, loops_[l].trips);
  return values;
}

/// Every group of nodes takes the same number of values.
void NetworkCounter::book_whole(const Crossing& crossing, bool first_visits, std::int64_t sign,
                                std::vector<std::int64_t>& loads, NetworkTraffic& record) const {
  const Routes routes =
      routes_of(crossing.kind, crossing.fanouts, crossing.route_loops, crossing.first);
  const std::int64_t all = sign * moved(crossing, crossing.transfer, first_visits, false);
  const std::int64_t unit = sign * moved(crossing, crossing.transfer, first_visits, true);
  const std::int64_t hopping =
      crossing.held ? sign * moved(crossing, *crossing.held, first_visits, false) : all;
  add_routes(routes, all, unit, hopping, loads, record);
  record.unit_latency_hops =
      checked_add(record.unit_latency_hops,
                  sign * checked_multiply(steps(crossing, first_visits), routes.longest_route));
}

/// Last tiles are smaller: group by group. A group counts with its whole set of nodes.
void NetworkCounter::book_groups(const Crossing& crossing, bool first_visits, std::int64_t sign,
                                 std::vector<std::int64_t>& loads, NetworkTraffic& record) const {
  const Transfer& transfer = crossing.transfer;
  const auto& ranges = problem_.workload[nest_.einsum].iteration_space;
  std::vector<LoopEffect> all = effects(crossing, transfer, first_visits, false);
  std::vector<LoopEffect> unit = effects(crossing, transfer, first_visits, true);
  std::vector<std::int64_t> nest_steps(static_cast<std::size_t>(transfer.child.n_loops), 0);
  std::vector<std::int64_t> group(crossing.route_loops.size(), 0);
  std::int64_t longest_route = 0;
  for (std::size_t r = 0; r < group.size(); ++r) {
    const auto l = static_cast<std::size_t>(crossing.nest_loops[r]);
    if (crossing.route_loops[r].distinct) all[l] = unit[l] = LoopEffect::kAt;
  }
  for (;;) {
    const Routes routes = routes_of_group(crossing.kind, crossing.fanouts, crossing.route_loops,
                                          group, crossing.first);
    const auto sum = [&](const std::vector<LoopEffect>& effects) {
      const auto& count = first_visits && is_windowed(transfer) ? first_sights : visit_sum;
      return sign * count(loops_, effects.data(), transfer.child.n_loops, *transfer.access, ranges,
                          nest_steps.data());
    };
    const std::int64_t values = sum(unit);
    const std::int64_t of_all = sum(all);
    add_routes(routes, of_all, values, of_all, loads, record);
    if (values != 0) longest_route = std::max(longest_route, routes.longest_route);
    std::size_t next = 0;
    for (; next < group.size(); ++next) {
      if (!crossing.route_loops[next].distinct) continue;
      std::int64_t& step = nest_steps[static_cast<std::size_t>(crossing.nest_loops[next])];
      group[next] = step = group[next] + 1;
      if (group[next] < crossing.route_loops[next].trips) break;
      group[next] = step = 0;
    }
    if (next == group.size()) break;
  }
  record.unit_latency_hops =
      checked_add(record.unit_latency_hops,
                  sign * checked_multiply(steps(crossing, first_visits), longest_route));
}

/// How each loop above the child counts for the values that enter one network, or all of them. The
/// network's own loops are the routes' business.
std::vector<LoopEffect> NetworkCounter::effects(const Crossing& crossing, const Transfer& transfer,
                                                bool first_visits, bool busiest) const {
  std::vector<LoopEffect> effects;
  for (int l = 0; l < transfer.child.n_loops; ++l)
    effects.push_back(effect(crossing, transfer, first_visits, busiest, l));
  return effects;
}

LoopEffect NetworkCounter::effect(const Crossing& crossing, const Transfer& transfer,
                                  bool first_visits, bool busiest, int l) const {
  const NestLoop& loop = loops_[l];
  const Relevance seen = transfer.access->relevance[static_cast<std::size_t>(loop.variable)];
  if (!loop.spatial) {
    const bool stays = transfer.child.steps_begin <= l && l < transfer.child.steps_end;
    if (stays || (first_visits && seen == Relevance::kIrrelevant)) return LoopEffect::kOnce;
    if (first_visits && seen == Relevance::kPartial) return LoopEffect::kUnited;
    return l == transfer.child.slides_over ? LoopEffect::kSlide : LoopEffect::kEvery;
  }
  if (l >= transfer.parent.n_loops && loop.component == crossing.network.fanned)
    return LoopEffect::kOnce;
  if (l < transfer.parent.n_loops ||
      nest_.compute->depth[loop.component.index()] < crossing.network.depth)
    return busiest ? LoopEffect::kOnce : LoopEffect::kEvery;  // a network for each instance
  if (seen != Relevance::kIrrelevant) return LoopEffect::kEvery;
  const BoundSpatial& inner = einsum_.components[loop.component.index()].spatial[loop.dimension];
  return (inner.may_reuse >> transfer.access->tensor) & 1 ? LoopEffect::kOnce : LoopEffect::kEvery;
}

/// Transfers of the busiest network one after another.
std::int64_t NetworkCounter::steps(const Crossing& crossing, bool first_visits) const {
  const Transfer& transfer = crossing.transfer;
  if (transfer.refetched && !first_visits) return transfer.refetched->visits;
  if (first_visits && is_windowed(transfer)) {
    std::vector<LoopEffect> counted = effects(crossing, transfer, first_visits, true);
    for (int l = 0; l < transfer.child.n_loops; ++l)
      if (loops_[l].spatial) counted[static_cast<std::size_t>(l)] = LoopEffect::kOnce;
    return visits_of_new_tiles(loops_, counted.data(), transfer.child.n_loops, *transfer.access,
                               problem_.workload[nest_.einsum].iteration_space);
  }
  if (nest_.perfect) {
    std::int64_t steps = 1;
    for (int l = 0; l < transfer.child.n_loops; ++l)
      if (!loops_[l].spatial &&
          effect(crossing, transfer, first_visits, true, l) == LoopEffect::kEvery)
        steps = checked_multiply(steps, loops_[l].trips);
    return steps;
  }
  std::vector<LoopEffect> counted = effects(crossing, transfer, first_visits, true);
  for (std::size_t l = 0; l < counted.size(); ++l)
    if (loops_[l].spatial) counted[l] = LoopEffect::kOnce;
  return visit_sum(loops_, counted.data(), transfer.child.n_loops, BoundAccess{},
                   problem_.workload[nest_.einsum].iteration_space);
}

}  // namespace sluice
