#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "referee/program/facts.h"
#include "referee/program/lane.h"
#include "sluice/mapping/collective_group.h"
#include "sluice/referee/collective_run.h"

namespace sluice::referee {

/// The instances that a collective brings together, found from where they stand in the machine.
struct CollectiveTeam {
  std::vector<const Lane*> lanes;  ///< by rank
  std::vector<std::int64_t> key;   ///< coordinates in the dimensions that are not in `over`
  CollectiveGroup group;
  std::vector<ComponentId> networks;  ///< of the group
  /// Where the participants' instances begin, as `standing_at` of the group.
  std::vector<std::vector<std::int64_t>> origin;
  std::string trouble;  ///< why they cannot come together; else empty
};

/// Sorts lanes into teams. `way`: from the outermost component to the memory that holds the tensor;
/// `first_dimension`: per component, its first place in Lane::place.
std::vector<CollectiveTeam> teams_of(const CollectiveNode& node, const Arch& arch,
                                     const std::vector<ComponentId>& way,
                                     const std::vector<std::size_t>& first_dimension,
                                     const std::vector<Lane>& lanes);

/// The algorithm that `auto` stands for: the fastest (COMET eq. 1, 3 and 4), of equals that with
/// less network energy, then the first in the order of kPerformers.
std::string fastest_algorithm(const CollectiveRequest& request, Reduction op,
                              double memory_bandwidth);

/// What collectives put on networks over the run.
class CollectiveUses {
 public:
  /// The node must stay where it is until the totals are made.
  void add(EinsumId maker, const CollectiveNode& node, const CollectiveTeam& team,
           const CollectiveRun& run);
  /// The same of a forwarded tensor, in one of the groups that work side by side.
  void add_forward(EinsumId maker, TensorId tensor, const std::vector<ComponentId>& networks,
                   const std::vector<std::int64_t>& group, const CollectiveRun& run) {
    add(maker, tensor, nullptr, networks, group, run);
  }
  std::vector<NetworkCount> totals(const Workload& workload) const;

 private:
  void add(EinsumId maker, TensorId tensor, const CollectiveNode* node,
           const std::vector<ComponentId>& networks, const std::vector<std::int64_t>& key,
           const CollectiveRun& run);
  struct Use {
    double volume_bits = 0, bit_hops = 0;
    /// Per collective (none: forwarded) and team: teams run side by side, collectives one after the
    /// other.
    std::map<const CollectiveNode*, std::map<std::vector<std::int64_t>, std::int64_t>> hops;
  };
  std::map<std::tuple<EinsumId, ComponentId, TensorId>, Use> uses_;
};

}  // namespace sluice::referee
