#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/network/network_routes.h"
#include "model/network/network_traffic.h"
#include "model/network/rotation.h"
#include "model/tree/finish_nests.h"
#include "model/tree/nest.h"
#include "model/tree/regions.h"
#include "model/visits/first_sights.h"
#include "model/visits/refetches.h"
#include "model/visits/visit_sum.h"
#include "sluice/support/checked.h"

namespace sluice {

/// One end of a transfer.
struct TransferEnd {
  int depth = 0;    ///< place of its component on the path of the compute
  int n_loops = 0;  ///< loops above it
  int slides_over = -1;
  int steps_begin = 0, steps_end = 0;    ///< loops in whose steps nothing moves again
  const NestStorage* storage = nullptr;  ///< null: the compute
};

/// A transfer of one access's tiles, `volume` values each where all tiles are whole.
template <class Value>
struct Transfer {
  const BoundAccess* access = nullptr;
  TransferEnd parent, child;
  Value volume{};
  bool down = true, up = false;
  bool skip_first_down = false;        ///< the first visit of a tile brings nothing (partial sums)
  std::optional<Refetches> refetched;  ///< where the child fetches only what is new to it
};

/// Books transfers on the networks that they cross. `Arithmetic` says what a count is: see
/// AccessCounter.
template <class Arithmetic>
class NetworkCounter {
 public:
  using Value = typename Arithmetic::Value;
  using Record = BasicNetworkTraffic<Value>;
  static constexpr bool kNumbers = std::is_same_v<Value, std::int64_t>;

  /// `result` is appended to: one record a network and tensor.
  NetworkCounter(Arithmetic& arithmetic, const BoundProblem& problem, const FlatTree& tree,
                 const Nest& nest, std::vector<Record>& result)
      : arithmetic_(arithmetic),
        problem_(problem),
        einsum_(problem[nest.einsum]),
        ranges_(problem.workload[nest.einsum].iteration_space),
        tree_(tree),
        nest_(nest),
        loops_(tree.loops.data() + nest.loops_begin),
        result_(result) {}

  void add(const Transfer<Value>& transfer) {
    const auto [outer, inner] = std::minmax(transfer.parent.depth, transfer.child.depth);
    for (const PathNetwork& network : nest_.compute->networks)
      if (outer < network.depth && network.depth < inner) cross(network, transfer);
  }

  /// Shares of a tile that peers hand on in a ring, `shifts` times one after the other.
  void rotate(int tensor, const TransferEnd& at, std::int64_t shifts,
              std::int64_t share) requires(kNumbers) {
    std::vector<RotationLoop> loops;
    std::int64_t networks = 1;
    std::optional<ComponentId> container;
    for (int l = 0; l < at.n_loops; ++l)
      if (((at.storage->peers >> l) & 1) != 0) container = loops_[l].component;
    for (int l = 0; l < at.n_loops; ++l) {
      if (!loops_[l].spatial) continue;
      if (loops_[l].component == container)
        loops.push_back(
            {loops_[l].dimension, loops_[l].trips, ((at.storage->peers >> l) & 1) != 0});
      else
        networks = checked_multiply(networks, loops_[l].trips);
    }
    std::optional<ComponentId> network;
    for (const PathNetwork& candidate : nest_.compute->networks)
      if (candidate.fanned == container) network = candidate.network;
    std::vector<std::int64_t> fanouts;
    for (const BoundSpatial& dimension : einsum_.components[container->index()].spatial)
      fanouts.push_back(dimension.fanout);
    const Rotation rotation =
        rotation_of(std::get<Network>(problem_.arch[*network].kind), fanouts, loops,
                    first_instance(tree_, nest_, *container, fanouts.size()));
    const std::int64_t values = checked_multiply(shifts, share);
    const std::int64_t unit = checked_multiply(values, rotation.messages);
    Record& record = record_of(*network, tensor);
    record.deliveries += checked_multiply(unit, networks);
    record.half_hops += 2 * checked_multiply(checked_multiply(values, rotation.links), networks);
    record.unit_deliveries += unit;
    record.unit_sent += unit;
    record.unit_latency_hops += checked_multiply(shifts, rotation.longest);
    record.unit_rotated += checked_multiply(values, rotation.most_loaded);
  }

 private:
  /// A transfer on one network.
  struct Crossing {
    const Transfer<Value>& transfer;
    const PathNetwork& network;
    const Network& kind;
    std::vector<std::int64_t> fanouts;
    std::vector<std::int64_t> first;  ///< node where the loops begin, per dimension; empty: node 0
    std::vector<RouteLoop> route_loops;
    std::vector<int> nest_loops;          ///< index of each route loop in the nest
    std::optional<Transfer<Value>> held;  ///< repeated values are free: the transfer that pays hops
  };

  /// Down or up, all visits or the first ones of each tile, which are taken off.
  struct Way {
    bool first_visits = false, gathers = false;
    std::vector<Value>& loads;
    Record& record;
  };

  void cross(const PathNetwork& network, const Transfer<Value>& transfer) {
    const Network& kind = std::get<Network>(problem_.arch[network.network].kind);
    Record& record = record_of(network.network, transfer.access->tensor);
    if (!arithmetic_.counts(kind)) return;
    Crossing crossing{transfer, network, kind, {}, {}, {}, {}, {}};
    if (network.fanned) {
      for (const BoundSpatial& dimension : einsum_.components[network.fanned->index()].spatial)
        crossing.fanouts.push_back(dimension.fanout);
      crossing.first = first_instance(tree_, nest_, *network.fanned, crossing.fanouts.size());
    }
    add_route_loops(crossing);
    if (kind.repeated_values == RepeatedValues::kFree)
      crossing.held = held_behind(network, transfer);
    const bool returns = transfer.access->is_output && transfer.skip_first_down;
    if (transfer.down && !(returns && kind.returning_sums == ReturningSums::kFree)) {
      book(crossing, {false, false, record.down_loads, record});
      if (transfer.skip_first_down) book(crossing, {true, false, record.down_loads, record});
    }
    if (transfer.up) book(crossing, {false, true, record.up_loads, record});
  }

  void add_route_loops(Crossing& crossing) const {
    const Transfer<Value>& transfer = crossing.transfer;
    for (int l = transfer.parent.n_loops; l < transfer.child.n_loops; ++l) {
      const NestLoop& loop = loops_[l];
      if (!loop.spatial || loop.trips == 1 || loop.component != crossing.network.fanned) continue;
      const bool indexed =
          relevance_of(transfer, l) != Relevance::kIrrelevant || is_peer(transfer, l);
      crossing.route_loops.push_back(
          {loop.dimension, loop.trips, indexed || !may_reuse(transfer, loop)});
      crossing.nest_loops.push_back(l);
    }
  }

  static bool is_peer(const Transfer<Value>& transfer, int l) {
    return transfer.child.storage && ((transfer.child.storage->peers >> l) & 1) != 0;
  }

  Relevance relevance_of(const Transfer<Value>& transfer, int l) const {
    return transfer.access->relevance[static_cast<std::size_t>(loops_[l].variable)];
  }

  bool may_reuse(const Transfer<Value>& transfer, const NestLoop& loop) const {
    const BoundSpatial& dimension =
        einsum_.components[loop.component.index()].spatial[loop.dimension];
    return (dimension.may_reuse >> transfer.access->tensor) & 1;
  }

  /// The transfer as if what stands right behind the network's instances kept its tile and fetched
  /// what is new in it; none where the child stands there itself.
  std::optional<Transfer<Value>> held_behind(const PathNetwork& network,
                                             const Transfer<Value>& transfer) {
    const Einsum& einsum = problem_.workload[nest_.einsum];
    const int n_loops_of_child = transfer.child.n_loops;
    int n_loops = -1;
    for (int l = transfer.parent.n_loops; l < n_loops_of_child; ++l)
      if (loops_[l].spatial && loops_[l].component == network.fanned) n_loops = l + 1;
    const bool is_compute =
        transfer.child.depth == nest_.compute->depth[nest_.compute->component.index()];
    if (n_loops < 0 || einsum.is_copy_operation || (n_loops == n_loops_of_child && !is_compute))
      return std::nullopt;
    if constexpr (!kNumbers) {
      arithmetic_.refuse();
      return std::nullopt;
    } else {
      tiles_.clear();
      for (const VariableRange& range : einsum.iteration_space) tiles_.push_back(range.size);
      for (int l = 0; l < n_loops; ++l)
        tiles_[static_cast<std::size_t>(loops_[l].variable)] = loops_[l].tile;
      Transfer<Value> held = transfer;
      held.child = {transfer.child.depth, n_loops, -1};
      held.volume = tile_volume(*transfer.access, tiles_.data());
      held.refetched = refetches(*transfer.access, tiles_.data(), loops_, n_loops);
      return held;
    }
  }

  bool is_windowed(const Transfer<Value>& transfer) const {
    return transfer.access->is_output &&
           moves_windows(*transfer.access, loops_, transfer.child.n_loops);
  }

  Record& record_of(ComponentId network, int tensor) {
    for (Record& known : result_)
      if (known.network == network && known.tensor == tensor) return known;
    const Value none = arithmetic_.constant(0);
    return result_.emplace_back(
        Record{network, tensor, none, none, none, none, none, none, {}, {}});
  }

  void book(const Crossing& crossing, const Way& way) const {
    if (nest_.perfect) return book_whole(crossing, way);
    if constexpr (kNumbers)
      book_groups(crossing, way);
    else
      arithmetic_.refuse();
  }

  /// First visits are taken off what all of them move.
  void book(Value& sum, const Way& way, Value more) const {
    sum = way.first_visits ? arithmetic_.subtract(std::move(sum), std::move(more))
                           : arithmetic_.add(std::move(sum), std::move(more));
  }

  /// `hopping`: of the values `all`, how many pay hops.
  void book_routes(const BasicRoutes<Value>& routes, const Way& way, const Value& all,
                   const Value& unit, const Value& hopping) const {
    Record& record = way.record;
    book(record.deliveries, way, arithmetic_.multiply(all, routes.deliveries));
    book(record.half_hops, way, arithmetic_.multiply(hopping, routes.half_hops));
    book(record.unit_deliveries, way, arithmetic_.multiply(unit, routes.deliveries));
    book(record.unit_sent, way, arithmetic_.multiply(unit, routes.groups));
    if (way.loads.size() < routes.entry_loads.size())
      way.loads.resize(routes.entry_loads.size(), arithmetic_.constant(0));
    for (std::size_t link = 0; link < routes.entry_loads.size(); ++link)
      book(way.loads[link], way, arithmetic_.multiply(unit, routes.entry_loads[link]));
  }

  static RouteQuestion question(const Crossing& crossing, const Way& way) {
    return {crossing.kind, crossing.fanouts, crossing.route_loops, crossing.first, way.gathers};
  }

  /// Every group of nodes takes the same number of values.
  void book_whole(const Crossing& crossing, const Way& way) const {
    const auto routes = arithmetic_.routes(question(crossing, way), crossing.nest_loops);
    const Value all = moved(crossing, crossing.transfer, way.first_visits, false);
    const Value unit = moved(crossing, crossing.transfer, way.first_visits, true);
    const Value hopping =
        crossing.held ? moved(crossing, *crossing.held, way.first_visits, false) : all;
    book_routes(routes, way, all, unit, hopping);
    if (!arithmetic_.counts_steps(crossing.kind)) return;
    book(way.record.unit_latency_hops, way,
         arithmetic_.multiply(steps(crossing, way.first_visits), routes.longest_route));
  }

  /// Last tiles are smaller: group by group. A group counts with its whole set of nodes.
  void book_groups(const Crossing& crossing, const Way& way) const {
    const Transfer<Value>& transfer = crossing.transfer;
    std::vector<LoopEffect> all = effects(crossing, transfer, way.first_visits, false);
    std::vector<LoopEffect> unit = effects(crossing, transfer, way.first_visits, true);
    std::vector<std::int64_t> nest_steps(static_cast<std::size_t>(transfer.child.n_loops), 0);
    std::vector<std::int64_t> group(crossing.route_loops.size(), 0);
    std::int64_t longest_route = 0;
    for (std::size_t r = 0; r < group.size(); ++r) {
      const auto l = static_cast<std::size_t>(crossing.nest_loops[r]);
      if (crossing.route_loops[r].distinct) all[l] = unit[l] = LoopEffect::kAt;
    }
    for (;;) {
      const Routes routes = routes_of_group(question(crossing, way), group);
      const auto sum = [&](const std::vector<LoopEffect>& effects) {
        return visited(transfer, effects, way.first_visits && is_windowed(transfer),
                       nest_steps.data());
      };
      const std::int64_t values = sum(unit);
      const std::int64_t of_all = sum(all);
      book_routes(routes, way, of_all, values, of_all);
      if (values != 0) longest_route = std::max(longest_route, routes.longest_route);
      if (!next_group(crossing, group, nest_steps)) break;
    }
    book(way.record.unit_latency_hops, way,
         arithmetic_.multiply(steps(crossing, way.first_visits), longest_route));
  }

  static bool next_group(const Crossing& crossing, std::vector<std::int64_t>& group,
                         std::vector<std::int64_t>& nest_steps) {
    for (std::size_t next = 0; next < group.size(); ++next) {
      if (!crossing.route_loops[next].distinct) continue;
      std::int64_t& step = nest_steps[static_cast<std::size_t>(crossing.nest_loops[next])];
      group[next] = step = group[next] + 1;
      if (group[next] < crossing.route_loops[next].trips) return true;
      group[next] = step = 0;
    }
    return false;
  }

  Value visited(const Transfer<Value>& transfer, const std::vector<LoopEffect>& effects,
                bool first_sights, const std::int64_t* steps = nullptr) const {
    const Visits visits{loops_, effects, *transfer.access, ranges_, transfer.child.storage, steps};
    return first_sights ? arithmetic_.first_sights(visits) : arithmetic_.visit_sum(visits);
  }

  /// Values of a transfer that enter the network, or its busiest instance; all tiles are whole.
  Value moved(const Crossing& crossing, const Transfer<Value>& transfer, bool first_visits,
              bool busiest) const {
    if (first_visits && is_windowed(transfer))
      return visited(transfer, effects(crossing, transfer, first_visits, busiest), true);
    const bool is_whole = !transfer.refetched || first_visits;
    Value values = is_whole ? transfer.volume : arithmetic_.constant(transfer.refetched->values);
    for (int l = 0; l < transfer.child.n_loops; ++l)
      if ((is_whole || loops_[l].spatial) &&
          effect(crossing, transfer, first_visits, busiest, l) == LoopEffect::kEvery)
        values = arithmetic_.multiply(std::move(values), trips(l));
    return values;
  }

  auto trips(int l) const { return arithmetic_.trips(tree_, nest_.loops_begin, l); }

  /// How each loop above the child counts for the values that enter one network, or all of them.
  /// The network's own loops are the routes' business.
  std::vector<LoopEffect> effects(const Crossing& crossing, const Transfer<Value>& transfer,
                                  bool first_visits, bool busiest) const {
    std::vector<LoopEffect> effects;
    for (int l = 0; l < transfer.child.n_loops; ++l)
      effects.push_back(effect(crossing, transfer, first_visits, busiest, l));
    return effects;
  }

  LoopEffect effect(const Crossing& crossing, const Transfer<Value>& transfer, bool first_visits,
                    bool busiest, int l) const {
    const NestLoop& loop = loops_[l];
    const Relevance seen = relevance_of(transfer, l);
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
    return seen != Relevance::kIrrelevant || is_peer(transfer, l) || !may_reuse(transfer, loop)
               ? LoopEffect::kEvery
               : LoopEffect::kOnce;
  }

  /// Transfers of the busiest network one after another.
  Value steps(const Crossing& crossing, bool first_visits) const {
    const Transfer<Value>& transfer = crossing.transfer;
    if (transfer.refetched && !first_visits)
      return arithmetic_.constant(transfer.refetched->visits);
    const bool windowed = first_visits && is_windowed(transfer);
    if (nest_.perfect && !windowed) {
      Value steps = arithmetic_.constant(1);
      for (int l = 0; l < transfer.child.n_loops; ++l)
        if (!loops_[l].spatial &&
            effect(crossing, transfer, first_visits, true, l) == LoopEffect::kEvery)
          steps = arithmetic_.multiply(std::move(steps), trips(l));
      return steps;
    }
    std::vector<LoopEffect> counted = effects(crossing, transfer, first_visits, true);
    for (std::size_t l = 0; l < counted.size(); ++l)
      if (loops_[l].spatial) counted[l] = LoopEffect::kOnce;
    if (windowed)
      return arithmetic_.visits_of_new_tiles(
          {loops_, counted, *transfer.access, ranges_, transfer.child.storage});
    return arithmetic_.visit_sum({loops_, counted, BoundAccess{}, ranges_});
  }

  Arithmetic& arithmetic_;
  const BoundProblem& problem_;
  const BoundEinsum& einsum_;
  const std::vector<VariableRange>& ranges_;
  const FlatTree& tree_;
  const Nest& nest_;
  const NestLoop* loops_;
  std::vector<Record>& result_;
  std::vector<std::int64_t> tiles_;  ///< of held_behind
};

}  // namespace sluice
