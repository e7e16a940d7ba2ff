#include <algorithm>
#include <optional>

#include "model/shipment/forward_plan.h"
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
    places_.push_back(place_of(maker_));
    std::vector<std::uint32_t> seen;
    for (int place : forward_.readers) {
      const ForwardEnd reader = end_of(place);
      const std::uint32_t entry = reader.storage().entry;
      if (std::find(seen.begin(), seen.end(), entry) != seen.end()) continue;
      seen.push_back(entry);  // a node of several readers gets its tile once
      add_messages(reader);
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
  /// Between two instances, by their own coordinates.
  struct Message {
    std::size_t reader = 0;  ///< index into `places_`
    NodeCoordinates from, to;
    std::int64_t values = 0;
  };

  ForwardEnd end_of(int place) const {
    const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
    return {problem_, tree_, forward_, nest, *backing_of(problem_, tree_, nest, forward_.tensor)};
  }
  const BoundEinsum& einsum() const { return problem_[maker_.nest().einsum]; }

  /// Every component with instances on the way to the memory.
  void find_containers() {
    const BoundCompute& compute = *maker_.nest().compute;
    for (ComponentId id : compute.path) {
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

  void add_messages(const ForwardEnd& reader) {
    const std::vector<const NestLoop*> makers = maker_.own_spatial_loops();
    const std::vector<const NestLoop*> readers = reader.own_spatial_loops();
    places_.push_back(place_of(reader));
    std::vector<std::pair<NodeCoordinates, IndexBox>> made;
    for_each_step(makers, [&](const std::vector<std::int64_t>& steps) {
      made.emplace_back(at(makers, steps), maker_.tile(steps));
    });
    for_each_step(readers, [&](const std::vector<std::int64_t>& steps) {
      const IndexBox wanted = reader.tile(steps);
      for (const auto& [from, box] : made)
        if (const std::int64_t values = common_values(box, wanted))
          messages_.push_back({places_.size() - 1, from, at(readers, steps), values});
    });
  }

  /// The outermost container in which two ends can differ.
  void find_outermost() {
    outermost_ = containers_.size();
    const NodeCoordinates one = all(1);
    for (const Where& where : places_)
      for (std::size_t n = 0; n < outermost_; ++n)
        if (where.trips[n] != one[n] || where.first[n] != places_.front().first[n]) outermost_ = n;
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

  /// Calls `visit(message, from, to)` for the messages of a group between different instances;
  /// nodes of the containers from the outermost one on.
  template <class Visit>
  void for_each_sent(const NodeCoordinates& group, Visit visit) const {
    for (const Message& message : messages_) {
      NodeCoordinates from, to;
      for (std::size_t n = outermost_; n < containers_.size(); ++n) {
        from.push_back(node(group[n], message.from[n], places_.front(), n));
        to.push_back(node(group[n], message.to[n], places_[message.reader], n));
      }
      if (from != to) visit(message, from, to);
    }
  }

  /// A route has links in a container's network where its ends differ, or, further in, where one of
  /// them is not at node 0.
  std::optional<std::string> find_networks() {
    std::vector<char> crossed(containers_.size(), 0);
    std::vector<std::vector<char>> differ;
    for (ComponentId id : containers_) differ.emplace_back(problem_.arch[id].spatial.size(), 0);
    for (const NodeCoordinates& group : groups_)
      for_each_sent(
          group, [&](const Message&, const NodeCoordinates& from, const NodeCoordinates& to) {
            bool through_door = false;
            for (std::size_t n = 0; n < from.size(); ++n) {
              const std::vector<std::int64_t> door(from[n].size(), 0);
              crossed[outermost_ + n] |= static_cast<char>(
                  from[n] != to[n] || (through_door && (from[n] != door || to[n] != door)));
              through_door |= from[n] != to[n];
              for (std::size_t d = 0; d < door.size(); ++d)
                differ[outermost_ + n][d] |= static_cast<char>(from[n][d] != to[n][d]);
            }
          });
    for (std::size_t n = 0; n < containers_.size(); ++n) {
      for (std::size_t d = 0; d < differ[n].size(); ++d)
        if (differ[n][d]) plan_.over.push_back(problem_.arch[containers_[n]].spatial[d].name);
      if (!crossed[n]) continue;
      const auto& networks = maker_.nest().compute->networks;
      const auto network = std::find_if(
          networks.begin(), networks.end(),
          [&](const PathNetwork& candidate) { return candidate.fanned == containers_[n]; });
      if (network == networks.end())
        return "there is no !Network above " + problem_.arch[containers_[n]].name + ".";
      plan_.charge.networks.push_back({network->network});
      crossed_.push_back(n);
      CollectiveNetwork& added = request_.group.networks.emplace_back();
      added.network = std::get<Network>(problem_.arch[network->network].kind);
      for (const BoundSpatial& dimension : einsum().components[containers_[n].index()].spatial)
        added.fanouts.push_back(dimension.fanout);
    }
    return std::nullopt;
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
      for_each_sent(group, [&](const Message& message, const NodeCoordinates& from,
                               const NodeCoordinates& to) {
        tally.send(on_networks(from), on_networks(to), message.values);
      });
      tally.end_step();
      const CollectiveCost cost = price_messages(request_, tally.counts(), memory_bandwidth);
      charge.add(cost, plan_.bits_per_value, times, steps);
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
  std::vector<Where> places_;  ///< of the maker and of each reader
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
