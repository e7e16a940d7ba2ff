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
    std::vector<std::vector<std::uint32_t>> alike;  ///< of a reader: instances with equal tiles
  };
  /// From an instance of the maker to all of a reader that have equal tiles, one each. Who gets the
  /// same of a maker's tile gets the same part.
  struct Messages {
    std::uint32_t from = 0, part = 0, end = 0, to = 0;  ///< `to`: index into `alike`
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
    const std::vector<const NestLoop*>& loops = end.own_spatial_loops();
    End& added = ends_.emplace_back(End{place_of(end), {}, {}, {}});
    for_each_step(loops, [&](const std::vector<std::int64_t>& steps) {
      added.own.push_back(at(loops, steps));
      added.tiles.push_back(end.tile(steps));
    });
  }

  /// To the instances of the last end; those with equal tiles are compared with the maker's once.
  void add_messages() {
    End& reader = ends_.back();
    std::vector<std::vector<std::uint32_t>>& alike = reader.alike;
    for (std::uint32_t i = 0; i < reader.tiles.size(); ++i) {
      const auto known = std::find_if(alike.begin(), alike.end(), [&](const auto& instances) {
        return reader.tiles[instances.front()] == reader.tiles[i];
      });
      (known == alike.end() ? alike.emplace_back() : *known).push_back(i);
    }
    parts_.resize(ends_.front().tiles.size());
    for (std::uint32_t from = 0; from < parts_.size(); ++from)
      for (std::uint32_t to = 0; to < alike.size(); ++to) {
        const IndexBox& made = ends_.front().tiles[from];
        const IndexBox& wanted = reader.tiles[alike[to].front()];
        const std::int64_t values = common_values(made, wanted);
        if (values == 0) continue;
        const std::uint32_t part = has_trees_ ? part_of(from, made, wanted) : 0;
        messages_.push_back({from, part, static_cast<std::uint32_t>(ends_.size() - 1), to, values});
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
    const auto all_found = [&] {
      for (std::size_t n = outermost_; n < containers_.size(); ++n)
        for (const char differs : differ[n])
          if (!differs) return false;
      return true;
    };
    for (const NodeCoordinates& group : groups_) {
      if (all_found()) break;
      places_ = places_in(group);
      for (const Messages& messages : messages_) {
        if (all_found()) break;
        for (const std::uint32_t i : ends_[messages.end].alike[messages.to]) {
          const NodeCoordinates& from = places_.front()[messages.from];
          const NodeCoordinates& to = places_[messages.end][i];
          bool through_door = false;
          for (std::size_t n = 0; n < from.size(); ++n) {
            char& crosses = crossed[outermost_ + n];
            const bool leaves = from[n] != to[n];
            if (crosses == 0)
              crosses =
                  static_cast<char>(leaves || (through_door && !(is_door(outermost_ + n, from[n]) &&
                                                                 is_door(outermost_ + n, to[n]))));
            through_door |= leaves;
            for (std::size_t d = 0; d < from[n].size(); ++d)
              differ[outermost_ + n][d] |= static_cast<char>(from[n][d] != to[n][d]);
          }
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
    count_instances();
    for (const NodeCoordinates& group : groups_) {
      CollectiveTally tally(request_);
      if (groups_.size() > 1 || places_.empty()) places_ = places_in(group);
      send_all(nodes_of(places_), tally);
      tally.end_step();
      const CollectiveCost cost = price_messages(request_, tally.counts(), memory_bandwidth);
      charge.add(cost, plan_.bits_per_value, times, steps);
    }
  }

  /// Of the maker, and of all readers, in all groups.
  void count_instances() {
    const std::int64_t groups =
        checked_multiply(instances_, static_cast<std::int64_t>(groups_.size()));
    const auto all = [&](const End& end) {
      return checked_multiply(groups, static_cast<std::int64_t>(end.own.size()));
    };
    plan_.charge.senders = all(ends_.front());
    plan_.charge.receivers = 0;
    for (std::size_t e = 1; e < ends_.size(); ++e)
      plan_.charge.receivers = checked_add(plan_.charge.receivers, all(ends_[e]));
  }

  /// The instances of a group, each once and in ascending order.
  struct Nodes {
    std::vector<NodeCoordinates> places, on_networks;
    std::vector<std::vector<std::uint32_t>> number;  ///< by end and instance
  };
  Nodes nodes_of(const Places& places) const {
    Nodes nodes;
    for (const std::vector<NodeCoordinates>& of_end : places)
      nodes.places.insert(nodes.places.end(), of_end.begin(), of_end.end());
    std::sort(nodes.places.begin(), nodes.places.end());
    nodes.places.erase(std::unique(nodes.places.begin(), nodes.places.end()), nodes.places.end());
    for (const NodeCoordinates& place : nodes.places)
      nodes.on_networks.push_back(on_networks(place));
    for (const std::vector<NodeCoordinates>& of_end : places) {
      std::vector<std::uint32_t>& numbers = nodes.number.emplace_back();
      for (const NodeCoordinates& place : of_end)
        numbers.push_back(static_cast<std::uint32_t>(
            std::lower_bound(nodes.places.begin(), nodes.places.end(), place) -
            nodes.places.begin()));
    }
    return nodes;
  }

  /// Nothing goes from an instance to itself.
  void send_all(const Nodes& nodes, CollectiveTally& tally) {
    Distances distances(nodes.on_networks, request_, tally);
    std::vector<std::uint32_t> to;
    if (has_trees_)
      std::stable_sort(messages_.begin(), messages_.end(), [](const auto& a, const auto& b) {
        return std::tie(a.from, a.part) < std::tie(b.from, b.part);
      });
    for (std::size_t m = 0, end = 0; m < messages_.size(); m = end) {
      const std::uint32_t from = nodes.number.front()[messages_[m].from];
      to.clear();
      do {
        for (const std::uint32_t i : ends_[messages_[end].end].alike[messages_[end].to])
          if (const std::uint32_t node = nodes.number[messages_[end].end][i]; node != from)
            to.push_back(node);
        ++end;
      } while (has_trees_ && end < messages_.size() && messages_[end].from == messages_[m].from &&
               messages_[end].part == messages_[m].part);
      if (has_trees_ && grows_tree(nodes, from, to, tally))
        send_tree(nodes, from, to, messages_[m].values, distances, tally);
      else
        send_each(nodes, from, to, messages_[m].values, tally);
    }
  }

  static void send_each(const Nodes& nodes, std::uint32_t from,
                        const std::vector<std::uint32_t>& to, std::int64_t values,
                        CollectiveTally& tally) {
    std::vector<const NodeCoordinates*> receivers;
    for (const std::uint32_t node : to) receivers.push_back(&nodes.on_networks[node]);
    tally.send_each(nodes.on_networks[from], receivers, values);
  }

  /// Links between the nodes of a group, and trees over them; makers often send to the same nodes.
  class Distances {
   public:
    Distances(const std::vector<NodeCoordinates>& nodes, const CollectiveRequest& request,
              CollectiveTally& tally)
        : nodes_(nodes), tally_(tally) {
      if (request.group.networks.size() == 1) only_ = &request.group.networks.front();
    }

    std::vector<std::int32_t> from(std::uint32_t node, const std::vector<std::uint32_t>& some) {
      std::vector<std::int32_t> links;
      append(node, some, links);
      return links;
    }
    GreedyTrees& trees_to(const std::vector<std::uint32_t>& some) {
      if (trees_ && some == some_) return *trees_;
      some_ = some;
      std::vector<std::int32_t> links;
      links.reserve(some.size() * some.size());
      for (const std::uint32_t node : some) append(node, some, links);
      return trees_.emplace(some.size(), std::move(links));
    }

   private:
    void append(std::uint32_t from, const std::vector<std::uint32_t>& some,
                std::vector<std::int32_t>& links) {
      links.reserve(links.size() + some.size());
      if (only_ == nullptr) {
        for (const std::uint32_t to : some)
          links.push_back(static_cast<std::int32_t>(tally_.hops(nodes_[from], nodes_[to])));
        return;
      }
      const auto hops = routes_over(only_->network.topology).hops;
      for (const std::uint32_t to : some)
        links.push_back(static_cast<std::int32_t>(
            hops(only_->fanouts, nodes_[from].front(), nodes_[to].front())));
    }

    const std::vector<NodeCoordinates>& nodes_;
    CollectiveTally& tally_;
    const CollectiveNetwork* only_ = nullptr;  ///< where there is one
    std::vector<std::uint32_t> some_;
    std::optional<GreedyTrees> trees_;
  };

  /// Whether all networks on the ways from a node grow trees.
  bool grows_tree(const Nodes& nodes, std::uint32_t from, const std::vector<std::uint32_t>& to,
                  CollectiveTally& tally) const {
    const std::vector<CollectiveNetwork>& networks = request_.group.networks;
    const auto grows = [](const CollectiveNetwork& network) {
      return network.network.multicast == Multicast::kGreedyTree;
    };
    if (std::all_of(networks.begin(), networks.end(), grows)) return true;
    return std::all_of(to.begin(), to.end(), [&](std::uint32_t node) {
      tally.hops(nodes.on_networks[from], nodes.on_networks[node]);
      for (std::size_t n = 0; n < networks.size(); ++n)
        if (tally.route()[n] > 0 && !grows(networks[n])) return false;
      return true;
    });
  }

  void send_tree(const Nodes& nodes, std::uint32_t from, std::vector<std::uint32_t>& to,
                 std::int64_t values, Distances& distances, CollectiveTally& tally) const {
    if (!std::is_sorted(to.begin(), to.end())) std::sort(to.begin(), to.end());
    const std::vector<TreeBranch>& branches = distances.trees_to(to).grow(distances.from(from, to));
    const std::size_t n_networks = request_.group.networks.size();
    if (n_networks == 1) {
      tally.relay(sum_of(branches), values);
      return;
    }
    const auto node = [&](std::size_t n) -> const NodeCoordinates& {
      return nodes.on_networks[n == 0 ? from : to[n - 1]];
    };
    std::vector<std::int64_t> ways((to.size() + 1) * n_networks, 0);
    for (const TreeBranch& branch : branches) {
      std::int64_t* const way = &ways[branch.to * n_networks];
      std::copy_n(&ways[branch.from * n_networks], n_networks, way);
      tally.relay(node(branch.from), node(branch.to), values, way);
    }
  }

  static CollectiveTally::Relays sum_of(const std::vector<TreeBranch>& branches) {
    CollectiveTally::Relays sum;
    for (const TreeBranch& branch : branches) {
      ++sum.messages;
      sum.over_links += branch.links > 0 ? 1 : 0;
      sum.links += branch.links;
      sum.longest_way = std::max(sum.longest_way, branch.depth);
    }
    return sum;
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
  std::vector<Messages> messages_;       ///< of one group
  std::vector<NodeCoordinates> groups_;  ///< by the steps of spatial loops above the split
  Places places_;                        ///< of the group at hand
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
