#include "model/shipment/forward_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "model/topology/greedy_tree.h"
#include "model/topology/ports.h"
#include "model/tree/forward_ends.h"
#include "model/tree/lookups.h"
#include "model/tree/regions.h"
#include "sluice/model/collective_algorithm.h"
#include "sluice/support/checked.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// NodeCoordinates per container and dimension.
using NodeCoordinates = std::vector<std::vector<std::int64_t>>;

/// Builds the plan of one forward.
class ForwardPlanner {
 public:
  ForwardPlanner(const BoundProblem& problem, const FlatTree& tree, const FlatForward& forward)
      : problem_(problem), tree_(tree), forward_(forward), maker_(end_of(forward.maker)) {}

  ForwardPlan make() {
    const auto missing = find_way();
    SLUICE_CHECK(!missing, "see why_no_forward");
    price();
    return std::move(plan_);
  }

  /// Messages and the networks that they cross; a sentence where one has no way.
  std::optional<std::string> find_way() {
    find_containers();
    add_end(maker_);
    std::vector<std::uint32_t> seen;
    for (int place : forward_.readers) {
      const ForwardEnd reader = end_of(place);
      const std::uint32_t entry = reader.storage().entry;
      if (std::find(seen.begin(), seen.end(), entry) != seen.end()) continue;
      seen.push_back(entry);  // a node of several readers gets its tile once
      add_end(reader);
      add_messages();
    }
    find_outermost();
    make_groups();
    return find_networks();
  }

 private:
  /// Where the instances of an end are: loops above the split come first in every dimension.
  struct Where {
    NodeCoordinates trips;  ///< of its own loops
    NodeCoordinates first;  ///< of its region
  };
  /// The maker, or the node of a reader, with all its instances.
  struct End {
    Where where;
    std::vector<NodeCoordinates> own;  ///< coordinates by its own loops, per instance
    std::vector<IndexBox> tiles;
  };
  /// Between an instance of the maker and one of a reader. Readers that get the same of a maker's
  /// tile get the same part.
  struct Message {
    std::uint32_t from = 0, part = 0, end = 0, to = 0;
    std::int64_t values = 0;
  };
  /// Nodes of the containers from the outermost one on, by end and instance.
  using Places = std::vector<std::vector<NodeCoordinates>>;

  ForwardEnd end_of(int place) const {
    const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
    return {problem_, tree_, forward_, nest, *backing_of(problem_, tree_, nest, forward_.tensor)};
  }
  const BoundEinsum& einsum() const { return problem_[maker_.nest().einsum]; }

  /// Every component with instances on the way to the memory.
  void find_containers() {
    const BoundCompute& compute = *maker_.nest().compute;
    for (ComponentId id : compute.path) {
      const Network* network = std::get_if<Network>(&problem_.arch[id].kind);
      has_trees_ |= network && network->multicast == Multicast::kGreedyTree;
      if (!problem_.arch[id].spatial.empty()) containers_.push_back(id);
      if (id == forward_.memory) return;
    }
  }

  NodeCoordinates all(std::int64_t value) const {
    NodeCoordinates coordinates;
    for (ComponentId id : containers_)
      coordinates.emplace_back(problem_.arch[id].spatial.size(), value);
    return coordinates;
  }
  std::size_t index_of(ComponentId container) const {
    return static_cast<std::size_t>(std::find(containers_.begin(), containers_.end(), container) -
                                    containers_.begin());
  }

  Where place_of(const ForwardEnd& end) const {
    Where where{all(1), all(0)};
    for (const NestLoop* loop : end.own_spatial_loops()) {
      std::int64_t& trips = where.trips[index_of(loop->component)][loop->dimension];
      trips = checked_multiply(trips, loop->trips);
    }
    for (std::size_t n = 0; n < containers_.size(); ++n) {
      const auto first = first_instance(tree_, end.nest(), containers_[n], where.first[n].size());
      if (!first.empty()) where.first[n] = first;
    }
    return where;
  }

  NodeCoordinates at(const std::vector<const NestLoop*>& loops,
                     const std::vector<std::int64_t>& steps) const {
    NodeCoordinates coordinates = all(0);
    for (std::size_t l = 0; l < loops.size(); ++l) {
      std::int64_t& at = coordinates[index_of(loops[l]->component)][loops[l]->dimension];
      at = at * loops[l]->trips + steps[l];
    }
    return coordinates;
  }

  void add_end(const ForwardEnd& end) {
    const std::vector<const NestLoop*> loops = end.own_spatial_loops();
    End& added = ends_.emplace_back(End{place_of(end), {}, {}});
    for_each_step(loops, [&](const std::vector<std::int64_t>& steps) {
      added.own.push_back(at(loops, steps));
      added.tiles.push_back(end.tile(steps));
    });
  }

  /// To the instances of the last end; those with equal tiles are compared with the maker's once.
  void add_messages() {
    const End& reader = ends_.back();
    std::vector<std::vector<std::uint32_t>> alike;
    for (std::uint32_t i = 0; i < reader.tiles.size(); ++i) {
      const auto known = std::find_if(alike.begin(), alike.end(), [&](const auto& instances) {
        return reader.tiles[instances.front()] == reader.tiles[i];
      });
      (known == alike.end() ? alike.emplace_back() : *known).push_back(i);
    }
    parts_.resize(ends_.front().tiles.size());
    for (std::uint32_t from = 0; from < parts_.size(); ++from)
      for (const std::vector<std::uint32_t>& instances : alike) {
        const IndexBox& made = ends_.front().tiles[from];
        const IndexBox& wanted = reader.tiles[instances.front()];
        const std::int64_t values = common_values(made, wanted);
        if (values == 0) continue;
        const std::uint32_t part = has_trees_ ? part_of(from, made, wanted) : 0;
        for (const std::uint32_t to : instances)
          messages_.push_back(
              {from, part, static_cast<std::uint32_t>(ends_.size() - 1), to, values});
      }
  }

  /// The number of what two tiles have in common, among those of the first one.
  std::uint32_t part_of(std::uint32_t from, const IndexBox& made, const IndexBox& wanted) {
    std::vector<std::int64_t> common;
    for (std::size_t r = 0; r < made.size(); ++r)
      common.insert(common.end(),
                    {std::max(made[r].low, wanted[r].low), std::min(made[r].high, wanted[r].high)});
    auto& parts = parts_[from];
    return parts.try_emplace(std::move(common), static_cast<std::uint32_t>(parts.size()))
        .first->second;
  }

  /// The outermost container in which two ends can differ.
  void find_outermost() {
    outermost_ = containers_.size();
    const NodeCoordinates one = all(1);
    for (const End& end : ends_)
      for (std::size_t n = 0; n < outermost_; ++n)
        if (end.where.trips[n] != one[n] || end.where.first[n] != ends_.front().where.first[n])
          outermost_ = n;
  }

  /// The instances of spatial loops above the split work side by side; further out than the
  /// outermost container they are all alike.
  void make_groups() {
    std::vector<const NestLoop*> loops;
    for (const NestLoop* loop : maker_.common_loops()) {
      if (!loop->spatial)
        plan_.executions = checked_multiply(plan_.executions, loop->trips);
      else if (index_of(loop->component) < outermost_)
        instances_ = checked_multiply(instances_, loop->trips);
      else
        loops.push_back(loop);
    }
    for_each_step(loops, [&](const std::vector<std::int64_t>& steps) {
      groups_.push_back(at(loops, steps));
    });
  }

  static std::vector<std::int64_t> node(const std::vector<std::int64_t>& group,
                                        const std::vector<std::int64_t>& own, const Where& where,
                                        std::size_t n) {
    std::vector<std::int64_t> node;
    for (std::size_t d = 0; d < own.size(); ++d)
      node.push_back(group[d] * where.trips[n][d] + own[d] + where.first[n][d]);
    return node;
  }

  Places places_in(const NodeCoordinates& group) const {
    Places places;
    for (const End& end : ends_) {
      std::vector<NodeCoordinates>& of_end = places.emplace_back();
      for (const NodeCoordinates& own : end.own) {
        NodeCoordinates& place = of_end.emplace_back();
        for (std::size_t n = outermost_; n < containers_.size(); ++n)
          place.push_back(node(group[n], own[n], end.where, n));
      }
    }
    return places;
  }

  /// A route has links in a container's network where its ends differ, or, further in, where one of
  /// them is not at node 0.
  std::optional<std::string> find_networks() {
    std::vector<char> crossed(containers_.size(), 0);
    std::vector<std::vector<char>> differ;
    for (ComponentId id : containers_) differ.emplace_back(problem_.arch[id].spatial.size(), 0);
    for (const NodeCoordinates& group : groups_) {
      const Places places = places_in(group);
      for (const Message& message : messages_) {
        const NodeCoordinates& from = places.front()[message.from];
        const NodeCoordinates& to = places[message.end][message.to];
        bool through_door = false;
        for (std::size_t n = 0; n < from.size(); ++n) {
          crossed[outermost_ + n] |= static_cast<char>(
              from[n] != to[n] || (through_door && !(is_door(outermost_ + n, from[n]) &&
                                                     is_door(outermost_ + n, to[n]))));
          through_door |= from[n] != to[n];
          for (std::size_t d = 0; d < from[n].size(); ++d)
            differ[outermost_ + n][d] |= static_cast<char>(from[n][d] != to[n][d]);
        }
      }
    }
    for (std::size_t n = 0; n < containers_.size(); ++n) {
      for (std::size_t d = 0; d < differ[n].size(); ++d)
        if (differ[n][d]) plan_.over.push_back(problem_.arch[containers_[n]].spatial[d].name);
      if (!crossed[n]) continue;
      const PathNetwork* network = network_of(n);
      if (!network) return "there is no !Network above " + problem_.arch[containers_[n]].name + ".";
      plan_.charge.networks.push_back({network->network});
      crossed_.push_back(n);
      CollectiveNetwork& added = request_.group.networks.emplace_back();
      added.network = std::get<Network>(problem_.arch[network->network].kind);
      added.fanouts = fanouts_of(n);
    }
    return std::nullopt;
  }

  /// Whether a message leaves a container there without a link of its network.
  bool is_door(std::size_t container, const std::vector<std::int64_t>& node) const {
    const PathNetwork* network = network_of(container);
    if (network)
      if (const Network& kind = std::get<Network>(problem_.arch[network->network].kind);
          has_ported_routes(kind))
        return hops_from_port(kind, fanouts_of(container), node) == 0;
    return std::all_of(node.begin(), node.end(), [](std::int64_t at) { return at == 0; });
  }

  /// The network above a container; null where there is none.
  const PathNetwork* network_of(std::size_t container) const {
    for (const PathNetwork& candidate : maker_.nest().compute->networks)
      if (candidate.fanned == containers_[container]) return &candidate;
    return nullptr;
  }

  std::vector<std::int64_t> fanouts_of(std::size_t container) const {
    std::vector<std::int64_t> fanouts;
    for (const BoundSpatial& dimension :
         einsum().components[containers_[container].index()].spatial)
      fanouts.push_back(dimension.fanout);
    return fanouts;
  }

  double bandwidth(int BoundComponent::*action) const {
    const BoundComponent& bound = einsum().components[forward_.memory.index()];
    if (bound.*action < 0) return kUnbounded;
    const Action& found =
        problem_.arch[forward_.memory].actions[static_cast<std::size_t>(bound.*action)];
    return found.throughput * bits_moved_by(found, plan_.bits_per_value);
  }

  /// All messages of a step are under way at the same time; groups work side by side.
  void price() {
    plan_.maker = &maker_.nest();
    plan_.tensor = maker_.storage().tensor;
    plan_.bits_per_value = einsum()
                               .components[forward_.memory.index()]
                               .bits_per_value[static_cast<std::size_t>(plan_.tensor)];
    request_.bits_per_value = plan_.bits_per_value;
    const double memory_bandwidth =
        std::min(bandwidth(&BoundComponent::read_action), bandwidth(&BoundComponent::write_action));
    CollectiveCharge& charge = plan_.charge;
    charge.algorithm = "direct";
    const auto steps = static_cast<double>(plan_.executions);
    const double times = static_cast<double>(checked_multiply(instances_, plan_.executions));
    for (const NodeCoordinates& group : groups_) {
      CollectiveTally tally(request_);
      send_all(places_in(group), tally);
      tally.end_step();
      const CollectiveCost cost = price_messages(request_, tally.counts(), memory_bandwidth);
      charge.add(cost, plan_.bits_per_value, times, steps);
    }
  }

  /// Nothing goes from an instance to itself.
  void send_all(const Places& places, CollectiveTally& tally) {
    Places nodes;
    for (const std::vector<NodeCoordinates>& of_end : places) {
      std::vector<NodeCoordinates>& added = nodes.emplace_back();
      for (const NodeCoordinates& place : of_end) added.push_back(on_networks(place));
    }
    const auto is_sent = [&](const Message& message) {
      return places.front()[message.from] != places[message.end][message.to];
    };
    if (!has_trees_) {
      for (const Message& message : messages_)
        if (is_sent(message))
          tally.send(nodes.front()[message.from], nodes[message.end][message.to], message.values);
      return;
    }
    std::vector<Message> sent;
    std::copy_if(messages_.begin(), messages_.end(), std::back_inserter(sent), is_sent);
    std::stable_sort(sent.begin(), sent.end(), [&](const Message& a, const Message& b) {
      return std::tie(a.from, a.part, places[a.end][a.to]) <
             std::tie(b.from, b.part, places[b.end][b.to]);
    });
    for (std::size_t begin = 0, end = 0; begin < sent.size(); begin = end) {
      std::vector<const NodeCoordinates*> shared = {&nodes.front()[sent[begin].from]};
      for (; end < sent.size() && sent[end].from == sent[begin].from &&
             sent[end].part == sent[begin].part;
           ++end)
        shared.push_back(&nodes[sent[end].end][sent[end].to]);
      send_shared(shared, sent[begin].values, tally);
    }
  }

  /// From the first node to all others: as a tree where all networks on the way grow trees.
  void send_shared(const std::vector<const NodeCoordinates*>& nodes, std::int64_t values,
                   CollectiveTally& tally) const {
    const auto distance = [&](std::size_t a, std::size_t b) {
      return tally.hops(*nodes[a], *nodes[b]);
    };
    const bool grows = std::all_of(nodes.begin() + 1, nodes.end(), [&](const auto* node) {
      tally.hops(*nodes.front(), *node);
      for (std::size_t n = 0; n < request_.group.networks.size(); ++n)
        if (tally.route()[n] > 0 &&
            request_.group.networks[n].network.multicast != Multicast::kGreedyTree)
          return false;
      return true;
    });
    if (!grows) {
      for (std::size_t n = 1; n < nodes.size(); ++n) tally.send(*nodes.front(), *nodes[n], values);
      return;
    }
    std::vector<std::vector<std::int64_t>> links(
        nodes.size(), std::vector<std::int64_t>(request_.group.networks.size(), 0));
    for (const TreeBranch& branch : greedy_tree(1, nodes.size(), distance)) {
      links[branch.to] = links[branch.from];
      tally.relay(*nodes[branch.from], *nodes[branch.to], values, links[branch.to]);
    }
  }

  NodeCoordinates on_networks(const NodeCoordinates& nodes) const {
    NodeCoordinates result;
    for (std::size_t n : crossed_) result.push_back(nodes[n - outermost_]);
    return result;
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const FlatForward& forward_;
  ForwardEnd maker_;
  bool has_trees_ = false;  ///< on some network on the way
  std::vector<End> ends_;   ///< of the maker and of each reader
  std::vector<std::map<std::vector<std::int64_t>, std::uint32_t>> parts_;  ///< of a maker's tile
  ForwardPlan plan_;
  CollectiveRequest request_;            ///< networks and width
  std::vector<ComponentId> containers_;  ///< outermost first
  std::vector<std::size_t> crossed_;     ///< containers of the request's networks
  std::size_t outermost_ = 0;            ///< container in which ends differ
  std::int64_t instances_ = 1;           ///< of what stands further out
  std::vector<Message> messages_;        ///< of one group
  std::vector<NodeCoordinates> groups_;  ///< by the steps of spatial loops above the split
};

}  // namespace

std::optional<std::string> why_no_forward(const BoundProblem& problem, const FlatTree& tree,
                                          const FlatForward& forward) {
  return ForwardPlanner(problem, tree, forward).find_way();
}

ForwardPlan plan_forward(const BoundProblem& problem, const FlatTree& tree,
                         const FlatForward& forward) {
  return ForwardPlanner(problem, tree, forward).make();
}

}  // namespace sluice
