#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "facts.h"
#include "held_values.h"
#include "lane.h"
#include "sluice/sim/execute.h"

namespace sluice::sim {

/// A node of a network: its place along each dimension of the fanout that the network links.
using NetworkNode = std::vector<std::int64_t>;
/// A link of a network; equal ones are the same link.
struct Wire {
  std::vector<std::int64_t> place;
  std::int64_t half_hops = 2;  ///< its length: 1 next to an entry between two nodes
  friend auto operator<=>(const Wire&, const Wire&) = default;
};

/// The links from where values enter a network to one node, in order (docs/model.md, "Networks").
/// `fanouts`: extents of its dimensions.
std::vector<Wire> route_to(const Network& network, const std::vector<std::int64_t>& fanouts,
                           const NetworkNode& node);

/// A transfer between two places on an Einsum's way to its compute.
struct Journey {
  EinsumId einsum;
  TensorId tensor;
  ComponentId outer, inner;                      ///< components at both ends
  std::size_t outer_depth = 0, inner_depth = 0;  ///< spatial loops above either end
  std::vector<bool>
      shared;              ///< per spatial loop above the inner end: one message for all its turns
  bool is_output = false;  ///< partial sums
  std::size_t inner_loops = 0;  ///< loops above the inner end
};

/// Carries messages over the networks and counts what goes over their links. Nodes that share a
/// message get it over the links of all their routes, each link once; sums come up the same way.
class Wires {
 public:
  Wires(const Workload& workload, const Arch& arch, const Program& program, const PointMap& points)
      : workload_(workload), arch_(arch), program_(program), held_(workload, program, points) {}

  /// Parties of one transfer: who gets (or sends) which points. `returns`: partial sums that come
  /// back down. Transfers of one `event` happen at once.
  void carry(const Journey& journey, const std::vector<Party>& parties, bool returns,
             std::int64_t event);

  /// One line an Einsum, network and tensor, over the whole run.
  std::vector<NetworkCount> totals(Facts& facts) const;

 private:
  using Key = std::vector<std::int64_t>;
  struct Use {
    std::int64_t deliveries = 0;  ///< values at every node that receives or sends them
    std::int64_t half_hops = 0;   ///< twice values × links
    /// Per instance of the network and event: the longest route.
    std::map<Key, std::map<std::int64_t, std::int64_t>> longest;
  };
  /// A network on the way of a journey.
  struct Stretch {
    ComponentId network;
    const Network* kind = nullptr;
    std::optional<ComponentId> fanned;  ///< whose instances it links
    std::vector<std::int64_t> fanouts;
    std::size_t first_dimension = 0;  ///< of `fanned`: its first place in InstancePlace
    std::vector<bool> above;          ///< per spatial loop: stands above the network
    std::optional<Holder> holder;     ///< where repeated values are free
  };
  /// Where a party's message enters a network, and which node it goes to.
  struct Address {
    Key instance, message;
    NetworkNode node;
    Key holder;  ///< instance of what stands right behind the node
  };
  Stretch stretch_of(ComponentId network, const Journey& journey, bool returns) const;
  std::optional<Holder> holder_of(const Stretch& stretch, const Journey& journey,
                                  bool returns) const;
  Address address_of(const Stretch& stretch, const Journey& journey, const Party& party) const;
  void carry_over(const Stretch& stretch, const Journey& journey, const std::vector<Party>& parties,
                  std::int64_t event);

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  HeldValues held_;
  std::map<std::tuple<EinsumId, ComponentId, TensorId>, Use> uses_;
};

}  // namespace sluice::sim
