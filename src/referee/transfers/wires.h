#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "held_values.h"
#include "referee/program/facts.h"
#include "referee/program/lane.h"
#include "referee/topology/ports.h"
#include "sluice/referee/execution.h"

namespace sluice::referee {

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
  /// back down. Copies of one `visit` happen at once; everything else happens by itself.
  void carry(const Journey& journey, const std::vector<Party>& parties, bool returns,
             std::optional<std::int64_t> visit = std::nullopt);

  /// From party to party over the network that links the instances of a component.
  void hand_on(const Journey& journey, ComponentId linked,
               const std::vector<std::pair<Party, Party>>& moves);

  /// What values of parties in given instances put on the networks of a journey, as long as those
  /// that share a message have the same values.
  struct Pattern {
    struct Message {
      std::size_t first = 0;  ///< of its parties, the first one
      std::int64_t nodes = 0, half_hops = 0;
    };
    struct OnNetwork {
      bool* is_used = nullptr;
      std::int64_t* deliveries = nullptr;
      std::int64_t* half_hops = nullptr;
      std::vector<Message> messages;
      /// Per instance of the network: its sum, and the longest route of this transfer.
      std::vector<std::pair<std::int64_t*, std::int64_t>> longest;
    };
    bool is_regular = true;  ///< false: values must be carried one by one
    std::vector<OnNetwork> networks;
    std::vector<std::pair<std::size_t, std::size_t>> together;  ///< a party and its message's first
  };
  Pattern pattern_of(const Journey& journey, const std::vector<Party>& parties, bool returns);

  /// One line an Einsum, network and tensor, over the whole run.
  std::vector<NetworkCount> totals(Facts& facts) const;

 private:
  using Key = std::vector<std::int64_t>;
  struct Use {
    bool is_used = false;
    std::int64_t deliveries = 0;  ///< values at every node that receives or sends them
    std::int64_t half_hops = 0;   ///< twice values × links
    /// Per instance of the network: the sum of the longest routes of its transfers.
    std::map<Key, std::int64_t> longest;
    /// The same of copies, per visit (transfers of one visit happen at once).
    std::map<Key, std::map<std::int64_t, std::int64_t>> longest_of_copies;
  };
  struct Reached {
    std::int64_t half_hops = 0, longest = 0;
  };
  /// A network on the way of a journey.
  struct Stretch {
    ComponentId network;
    const Network* kind = nullptr;
    std::optional<ComponentId> fanned;  ///< whose instances it links
    std::vector<std::int64_t> fanouts;
    std::size_t first_dimension = 0;  ///< of `fanned`: its first place in InstancePlace
    bool gathers = false;             ///< sums on their way up
    std::vector<bool> above;          ///< per spatial loop: stands above the network
    std::optional<Holder> holder;     ///< where repeated values are free
  };
  /// Where a party's message enters a network, and which node it goes to.
  struct Address {
    Key instance, message;
    NetworkNode node;
    Key holder;  ///< instance of what stands right behind the node
  };
  std::vector<ComponentId> networks_of(const Journey& journey, bool returns) const;
  Reached reach(const Stretch& stretch, const std::set<NetworkNode>& all,
                const std::set<NetworkNode>& paying) const;
  Stretch stretch_of(ComponentId network, const Journey& journey, bool returns) const;
  std::optional<Holder> holder_of(const Stretch& stretch, const Journey& journey,
                                  bool returns) const;
  Address address_of(const Stretch& stretch, const Journey& journey, const Party& party) const;
  void carry_over(const Stretch& stretch, const Journey& journey, const std::vector<Party>& parties,
                  std::optional<std::int64_t> visit);

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  HeldValues held_;
  std::map<std::tuple<EinsumId, ComponentId, TensorId>, Use> uses_;
};

}  // namespace sluice::referee
