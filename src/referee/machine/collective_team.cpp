#include "collective_team.h"

#include <fmt/format.h>

#include <algorithm>

#include "referee/collectives/performers.h"

namespace sluice::referee {
namespace {

/// The way down to a memory, as a collective over some of its dimensions sees it.
class Machinery {
 public:
  Machinery(const CollectiveNode& node, const Arch& arch, const std::vector<ComponentId>& way,
            const std::vector<std::size_t>& first_dimension, const std::vector<Lane>& lanes)
      : arch_(arch), first_dimension_(first_dimension) {
    for (const std::string& name : node.over) find(name, way, lanes);
    if (trouble.empty()) find_networks(way, lanes);
  }

  struct Dimension {
    ComponentId component;
    std::size_t index = 0;
    friend bool operator==(const Dimension&, const Dimension&) = default;
  };

  bool is_over(const Dimension& dimension) const {
    return std::find(over.begin(), over.end(), dimension) != over.end();
  }
  std::int64_t coordinate(const Lane& lane, const Dimension& dimension) const {
    return lane.place[first_dimension_[dimension.component.index()] + dimension.index];
  }
  std::vector<std::int64_t> key_of(const Lane& lane, const std::vector<ComponentId>& way) const {
    std::vector<std::int64_t> key;
    for (ComponentId component : way)
      for (std::size_t d = 0; d < arch_[component].spatial.size(); ++d)
        if (!is_over({component, d})) key.push_back(coordinate(lane, {component, d}));
    return key;
  }
  std::int64_t rank_of(const Lane& lane) const {
    std::int64_t rank = 0;
    for (std::size_t i = 0; i < over.size(); ++i)
      rank = rank * extents[i] + coordinate(lane, over[i]) - origin(lane, over[i]);
    return rank;
  }
  /// Where a lane's instances begin in the dimensions of every container.
  std::vector<std::vector<std::int64_t>> origin_of(const Lane& lane) const {
    std::vector<std::vector<std::int64_t>> origins;
    for (ComponentId container : containers) {
      origins.emplace_back();
      for (std::size_t d = 0; d < arch_[container].spatial.size(); ++d)
        origins.back().push_back(origin(lane, {container, d}));
    }
    return origins;
  }
  CollectiveGroup group_of(const Lane& lane) const {
    CollectiveGroup group;
    for (std::size_t n = 0; n < networks.size(); ++n) {
      CollectiveNetwork& network = group.networks.emplace_back();
      network.network = std::get<Network>(arch_[networks[n]].kind);
      std::vector<std::int64_t>& standing = group.standing_at.emplace_back();
      for (std::size_t d = 0; d < arch_[containers[n]].spatial.size(); ++d) {
        const Dimension dimension{containers[n], d};
        network.fanouts.push_back(arch_[containers[n]].spatial[d].fanout);
        standing.push_back(is_over(dimension) ? 0 : coordinate(lane, dimension));
      }
    }
    for (std::size_t i = 0; i < over.size(); ++i) {
      const auto at = std::find(containers.begin(), containers.end(), over[i].component);
      group.over.push_back({static_cast<std::size_t>(at - containers.begin()),
                            static_cast<std::uint32_t>(over[i].index), extents[i],
                            origin(lane, over[i])});
    }
    return group;
  }

  std::vector<Dimension> over;
  std::vector<std::int64_t> extents;  ///< participants per dimension of `over`
  std::vector<ComponentId> networks, containers;
  std::string trouble;

 private:
  std::int64_t origin(const Lane& lane, const Dimension& dimension) const {
    return lane.origin(first_dimension_[dimension.component.index()] + dimension.index);
  }
  /// The instances from the first one to the last one in use.
  std::int64_t extent(const Dimension& dimension, const std::vector<Lane>& lanes) const {
    std::int64_t most = 0;
    for (const Lane& lane : lanes) most = std::max(most, coordinate(lane, dimension) + 1);
    return most;
  }

  void find(const std::string& name, const std::vector<ComponentId>& way,
            const std::vector<Lane>& lanes) {
    for (ComponentId component : way)
      for (std::size_t d = 0; d < arch_[component].spatial.size(); ++d) {
        if (arch_[component].spatial[d].name != name) continue;
        over.push_back({component, d});
        extents.push_back(extent(over.back(), lanes) -
                          (lanes.empty() ? 0 : origin(lanes.front(), over.back())));
        if (extents.back() < 2)
          trouble = fmt::format("only one instance of the dimension {} takes part", name);
        return;
      }
    trouble = fmt::format("the dimension {} does not tell instances of the memory apart", name);
  }

  void find_networks(const std::vector<ComponentId>& way, const std::vector<Lane>& lanes) {
    std::vector<ComponentId> above;  // the network, if one stands there
    bool has_begun = false;
    for (ComponentId component : way) {
      if (std::holds_alternative<Network>(arch_[component].kind)) above = {component};
      if (arch_[component].spatial.empty()) continue;
      bool takes_part = false, has_instances = false;
      for (std::size_t d = 0; d < arch_[component].spatial.size(); ++d) {
        takes_part = takes_part || is_over({component, d});
        if (extent({component, d}, lanes) > arch_[component].spatial[d].fanout)
          trouble = fmt::format("it reaches instances of {} that do not exist",
                                arch_[component].spatial[d].name);
        has_instances = has_instances || extent({component, d}, lanes) > 1;
      }
      has_begun = has_begun || takes_part;
      if (has_begun && (takes_part || has_instances)) {
        if (above.empty()) {
          trouble = fmt::format("there is no network above {}", arch_[component].name);
          return;
        }
        containers.push_back(component);
        networks.push_back(above.front());
      }
      above.clear();  // it links this component's instances, not those further in
    }
  }

  const Arch& arch_;
  const std::vector<std::size_t>& first_dimension_;
};

}  // namespace

std::vector<CollectiveTeam> teams_of(const CollectiveNode& node, const Arch& arch,
                                     const std::vector<ComponentId>& way,
                                     const std::vector<std::size_t>& first_dimension,
                                     const std::vector<Lane>& lanes) {
  const Machinery machinery(node, arch, way, first_dimension, lanes);
  if (!machinery.trouble.empty()) return {CollectiveTeam{{}, {}, {}, {}, {}, machinery.trouble}};
  std::size_t participants = 1;
  for (std::int64_t extent : machinery.extents) participants *= static_cast<std::size_t>(extent);
  std::map<std::vector<std::int64_t>, CollectiveTeam> teams;
  for (const Lane& lane : lanes) {
    const std::vector<std::int64_t> key = machinery.key_of(lane, way);
    CollectiveTeam& team = teams[key];
    if (team.lanes.empty()) {
      team.lanes.resize(participants, nullptr);
      team.key = key;
      team.group = machinery.group_of(lane);
      team.networks = machinery.networks;
      team.origin = machinery.origin_of(lane);
    }
    const Lane*& place = team.lanes[static_cast<std::size_t>(machinery.rank_of(lane))];
    if (place) team.trouble = "several instances share one part of it";
    place = &lane;
  }
  std::vector<CollectiveTeam> result;
  for (auto& [key, team] : teams) {
    if (std::count(team.lanes.begin(), team.lanes.end(), nullptr) > 0)
      team.trouble = "some instances have nothing to do";
    result.push_back(std::move(team));
  }
  return result;
}

std::string fastest_algorithm(const CollectiveRequest& request, Reduction op,
                              double memory_bandwidth) {
  std::size_t participants = 1;
  for (const CollectiveDimension& dimension : request.group.over)
    participants *= static_cast<std::size_t>(dimension.participants);
  const std::vector<std::vector<double>> zeros(
      participants, std::vector<double>(static_cast<std::size_t>(request.values), 0));
  std::string best;
  std::pair<double, double> least;
  for (const Performer& performer : performers()) {
    if (!performer.is_automatic || !can_perform(request, performer.algorithm)) continue;
    const CollectiveRun run = run_collective(request, performer.algorithm, op, zeros);
    double bandwidth = memory_bandwidth, waiting_s = 0, energy_j = 0;
    for (std::size_t n = 0; n < run.networks.size(); ++n) {
      const Network& network = request.group.networks[n].network;
      const CollectiveCount& count = run.networks[n];
      if (count.volume_bits == 0) continue;
      bandwidth = std::min(bandwidth, network.link_bandwidth);
      waiting_s += network.router_latency_s * static_cast<double>(count.latency_hops) +
                   network.queue_latency_s * count.volume_bits /
                       static_cast<double>(network.channel_width_bits);
      energy_j += count.bit_hops / network.bits_per_hop_energy * network.hop_energy_j;
    }
    const double moving_s = run.total.volume_bits > 0 ? run.total.volume_bits / bandwidth : 0;
    const std::pair<double, double> price{moving_s + waiting_s, energy_j};
    if (!best.empty() && !(price < least)) continue;
    best = performer.algorithm;
    least = price;
  }
  return best;
}

void CollectiveUses::add(EinsumId maker, const CollectiveNode& node, const CollectiveTeam& team,
                         const CollectiveRun& run) {
  add(maker, node.tensor, &node, team.networks, team.key, run);
}

void CollectiveUses::add(EinsumId maker, TensorId tensor, const CollectiveNode* node,
                         const std::vector<ComponentId>& networks,
                         const std::vector<std::int64_t>& key, const CollectiveRun& run) {
  for (std::size_t n = 0; n < networks.size(); ++n) {
    if (run.networks[n].volume_bits == 0) continue;
    Use& use = uses_[{maker, networks[n], tensor}];
    use.volume_bits += run.networks[n].volume_bits;
    use.bit_hops += run.networks[n].bit_hops;
    use.hops[node][key] += run.networks[n].latency_hops;
  }
}

std::vector<NetworkCount> CollectiveUses::totals(const Workload& workload) const {
  std::vector<NetworkCount> rows;
  for (const auto& [what, use] : uses_) {
    const auto& [einsum, network, tensor] = what;
    const double times = static_cast<double>(workload.n_instances * workload[einsum].n_instances);
    std::int64_t latency_hops = 0;
    for (const auto& [node, teams] : use.hops) {
      std::int64_t most = 0;
      for (const auto& [team, hops] : teams) most = std::max(most, hops);
      latency_hops += most;
    }
    NetworkCount& row = rows.emplace_back();
    row.einsum = einsum;
    row.component = network;
    row.tensor = tensor;
    row.volume_bits = use.volume_bits * times;
    row.bit_hops = use.bit_hops * times;
    row.latency_hops = static_cast<double>(latency_hops) * times;
    row.implicit = false;
  }
  return rows;
}

}  // namespace sluice::referee
