#include "model/shipment/collective_plan.h"

#include <algorithm>

#include "model/tree/finish_nests.h"
#include "model/tree/lookups.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// Builds the plan of one collective.
class Planner {
 public:
  Planner(const BoundProblem& problem, const FlatTree& tree, const FlatCollective& flat,
          const Nest& maker)
      : problem_(problem), tree_(tree), flat_(flat), maker_(maker), einsum_(problem[maker.einsum]) {
    plan_.flat = &flat;
    plan_.maker = &maker;
    plan_.tensor = einsum_.local_tensor[flat.collective->tensor.index()];
  }

  tl::expected<CollectivePlan, std::string> make() {
    for (const std::string& name : flat_.collective->over)
      over_.push_back(*dimension_on_path(problem_.arch, *maker_.compute, name));
    if (auto missing = add_networks()) return tl::unexpected(*missing);
    add_participants();
    add_standings();
    count_executions();
    set_request();
    plan_.memory_bandwidth =
        std::min(bandwidth(flat_.collective->src, &BoundComponent::read_action),
                 bandwidth(flat_.collective->dst, &BoundComponent::write_action));
    find_combiner();
    return std::move(plan_);
  }

 private:
  bool is_over(FannedDimension dimension) const {
    return std::find(over_.begin(), over_.end(), dimension) != over_.end();
  }

  std::int64_t used(FannedDimension dimension) const {
    return instances_used(tree_, flat_, maker_, dimension);
  }

  /// Where the instances of the child of a split begin that has a part of the dimension.
  std::int64_t first(FannedDimension dimension) const {
    const Region* region =
        tree_.region_of(tree_.place(maker_), dimension.component, dimension.dimension);
    return region ? region->first : 0;
  }

  template <class Function>
  void for_each_loop_above(Function function) const {
    for (const Node* node : flat_.maker_loops)
      if (const NestLoop* loop = loop_at_node(tree_, maker_, node)) function(*loop);
  }

  const std::vector<SpatialDimension>& spatial(ComponentId id) const {
    return problem_.arch[id].spatial;
  }

  /// From the outermost container in `over` down to source and destination: each container with
  /// instances needs a network directly above it.
  std::optional<std::string> add_networks() {
    const int source = std::max(maker_.compute->depth[flat_.collective->src.index()],
                                maker_.compute->depth[flat_.collective->dst.index()]);
    bool below_first = false;
    for (int depth = 0; depth <= source; ++depth) {
      const ComponentId id = maker_.compute->path[static_cast<std::size_t>(depth)];
      if (spatial(id).empty()) continue;
      bool takes_part = false, has_instances = false;
      for (std::uint32_t d = 0; d < spatial(id).size(); ++d) {
        takes_part |= is_over({id, d});
        has_instances |= used({id, d}) > 1 || first({id, d}) > 0;
      }
      below_first |= takes_part;
      if (!below_first) {
        for (std::uint32_t d = 0; d < spatial(id).size(); ++d)
          plan_.instances = checked_multiply(plan_.instances, used({id, d}));
        continue;
      }
      if (!takes_part && !has_instances) continue;
      const auto network =
          std::find_if(maker_.compute->networks.begin(), maker_.compute->networks.end(),
                       [&](const PathNetwork& candidate) { return candidate.fanned == id; });
      if (network == maker_.compute->networks.end())
        return "there is no !Network above " + problem_.arch[id].name + ".";
      containers_.push_back(id);
      plan_.networks.push_back(network->network);
      CollectiveNetwork& added = plan_.request.group.networks.emplace_back();
      added.network = std::get<Network>(problem_.arch[network->network].kind);
      for (const BoundSpatial& dimension : einsum_.components[id.index()].spatial)
        added.fanouts.push_back(dimension.fanout);
    }
    return std::nullopt;
  }

  void add_participants() {
    for (const FannedDimension& dimension : over_) {
      const auto network = static_cast<std::size_t>(
          std::find(containers_.begin(), containers_.end(), dimension.component) -
          containers_.begin());
      plan_.request.group.over.push_back(
          {network, dimension.dimension, used(dimension), first(dimension)});
    }
  }

  /// Every combination of coordinates in the dimensions that do not take part.
  void add_standings() {
    plan_.standings = {{}};
    for (const CollectiveNetwork& network : plan_.request.group.networks)
      plan_.standings.front().emplace_back(network.fanouts.size(), 0);
    for (std::size_t n = 0; n < containers_.size(); ++n)
      for (std::uint32_t d = 0; d < spatial(containers_[n]).size(); ++d)
        plan_.standings.front()[n][d] = first({containers_[n], d});
    plan_.request.group.standing_at = plan_.standings.front();
    for (std::size_t n = 0; n < containers_.size(); ++n)
      for (std::uint32_t d = 0; d < spatial(containers_[n]).size(); ++d) {
        if (is_over({containers_[n], d})) continue;
        const std::int64_t extent = used({containers_[n], d});
        const std::size_t known = plan_.standings.size();
        for (std::int64_t at = 1; at < extent; ++at)
          for (std::size_t s = 0; s < known; ++s) {
            plan_.standings.push_back(plan_.standings[s]);
            plan_.standings.back()[n][d] = first({containers_[n], d}) + at;
          }
      }
  }

  void count_executions() {
    for_each_loop_above([&](const NestLoop& loop) {
      if (!loop.spatial) plan_.executions = checked_multiply(plan_.executions, loop.trips);
    });
  }

  void set_request() {
    CollectiveRequest& request = plan_.request;
    request.type = flat_.collective->type;
    std::vector<std::int64_t> tiles;
    for (const VariableRange& range : problem_.workload[maker_.einsum].iteration_space)
      tiles.push_back(range.size);
    for_each_loop_above(
        [&](const NestLoop& loop) { tiles[static_cast<std::size_t>(loop.variable)] = loop.tile; });
    request.values = tile_volume(einsum_.accesses.back(), tiles.data());
    if (request.type == CollectiveType::kAllGather || request.type == CollectiveType::kGather)
      for (const FannedDimension& dimension : over_)
        request.values = checked_multiply(request.values, used(dimension));
    request.bits_per_value = einsum_.components[plan_.networks.front().index()]
                                 .bits_per_value[static_cast<std::size_t>(plan_.tensor)];
  }

  double bandwidth(ComponentId memory, int BoundComponent::*action) const {
    const BoundComponent& bound = einsum_.components[memory.index()];
    if (bound.*action < 0) return kUnbounded;
    const Action& found = problem_.arch[memory].actions[static_cast<std::size_t>(bound.*action)];
    return found.throughput *
           bits_moved_by(found, bound.bits_per_value[static_cast<std::size_t>(plan_.tensor)]);
  }

  /// The maker's compute if it has the operation, else the first one below the destination.
  void find_combiner() {
    const std::optional<Reduction>& op = flat_.collective->op;
    if (!op || *op == Reduction::kNone) return;
    const std::string_view kind = operation_name(combining_operation(*op));
    std::vector<ComponentId> candidates = {maker_.compute->component};
    for (ComponentId compute : computes_of(problem_.arch)) {
      const std::vector<ComponentId> path = path_to(problem_.arch, compute);
      if (std::find(path.begin(), path.end(), flat_.collective->dst) != path.end())
        candidates.push_back(compute);
    }
    for (ComponentId compute : candidates) {
      const std::vector<Action>& actions = problem_.arch[compute].actions;
      for (std::size_t a = 0; a < actions.size() && !plan_.combiner; ++a)
        if (actions[a].name == kind || (actions.size() == 1 && actions[a].name == "compute"))
          plan_.combiner = {compute, a};
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const FlatCollective& flat_;
  const Nest& maker_;
  const BoundEinsum& einsum_;
  CollectivePlan plan_;
  std::vector<FannedDimension> over_;
  std::vector<ComponentId> containers_;  ///< of plan_.networks
};

}  // namespace

tl::expected<CollectivePlan, std::string> plan_collective(const BoundProblem& problem,
                                                          const FlatTree& tree,
                                                          const FlatCollective& flat,
                                                          const Nest& maker) {
  return Planner(problem, tree, flat, maker).make();
}

void CollectiveCharge::add(const CollectiveCost& cost, double bits_per_value, double times,
                           double one_after_another) {
  values += cost.counts.total.volume_bits / bits_per_value * times;
  combined += static_cast<double>(cost.counts.combined_values) * times;
  latency_s = std::max(latency_s, cost.latency_s() * one_after_another);
  for (std::size_t n = 0; n < networks.size(); ++n) {
    const CollectiveQuantities& counts = cost.counts.networks[n];
    networks[n].volume_bits += counts.volume_bits * times;
    networks[n].bit_hops += counts.bit_hops * times;
    networks[n].latency_hops = std::max(
        networks[n].latency_hops, static_cast<double>(counts.latency_hops) * one_after_another);
  }
}

CollectiveCharge price_plan(const CollectivePlan& plan, const CollectiveAlgorithms& algorithms) {
  CollectiveCharge charge;
  for (ComponentId network : plan.networks) charge.networks.push_back({network});
  const double all = static_cast<double>(checked_multiply(plan.instances, plan.executions));
  const double one_after_another = static_cast<double>(plan.executions);
  charge.senders =
      checked_multiply(plan.instances, static_cast<std::int64_t>(plan.standings.size()));
  for (const CollectiveDimension& dimension : plan.request.group.over)
    charge.senders = checked_multiply(charge.senders, dimension.participants);
  charge.receivers = charge.senders;
  // All groups use one algorithm: the one that is best where the others stand at node 0.
  charge.algorithm = price_collective(plan.request, plan.flat->collective->algorithm,
                                      plan.memory_bandwidth, algorithms)
                         .algorithm;
  for (const auto& standing : plan.standings) {
    CollectiveRequest request = plan.request;
    request.group.standing_at = standing;
    const CollectiveCost cost =
        price_collective(request, charge.algorithm, plan.memory_bandwidth, algorithms);
    charge.add(cost, request.bits_per_value, all, one_after_another);
  }
  return charge;
}

}  // namespace sluice
