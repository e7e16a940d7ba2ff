#include "sluice/model/collective_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sluice/model/collective_algorithm.h"
#include "sluice/support/checked.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

constexpr const char* kAuto = "auto";

std::optional<std::string> why_bad_request(const CollectiveRequest& request) {
  const CollectiveGroup& group = request.group;
  if (group.over.empty()) return "No spatial dimension takes part.";
  std::int64_t participants = 1;
  for (const CollectiveDimension& dimension : group.over) {
    const std::int64_t fanout =
        group.networks.at(dimension.network).fanouts.at(dimension.dimension);
    if (dimension.participants < 1 || dimension.first < 0 ||
        dimension.participants > fanout - dimension.first)
      return fmt::format(
          "{} participants{} in a dimension of {} instances.", dimension.participants,
          dimension.first ? fmt::format(" from {} on", dimension.first) : "", fanout);
    participants = checked_multiply(participants, dimension.participants);
  }
  if (has_root(request.type) && (request.root < 0 || request.root >= participants))
    return fmt::format("The root has rank {}; there are {} participants, counted from 0.",
                       request.root, participants);
  return std::nullopt;
}

std::optional<std::string> why_not(const CollectiveRequest& request,
                                   const CollectiveAlgorithm& algorithm) {
  if (!algorithm.performs(request.type))
    return fmt::format("The algorithm {} has no {}.", algorithm.name(),
                       collective_name(request.type));
  for (const CollectiveDimension& dimension : request.group.over) {
    const TopologyFacts& topology =
        facts_of(request.group.networks[dimension.network].network.topology);
    if (!algorithm.fits(topology))
      return fmt::format("The algorithm {} needs {}, not a network of topology {}.",
                         algorithm.name(), algorithm.needs(), topology.name);
  }
  return std::nullopt;
}

CollectiveCost price(const CollectiveRequest& request, const CollectiveAlgorithm& algorithm,
                     double memory_bandwidth) {
  CollectiveTally tally(request);
  algorithm.count(tally);
  CollectiveCost cost = price_messages(request, tally.counts(), memory_bandwidth);
  cost.algorithm = algorithm.name();
  return cost;
}

}  // namespace

CollectiveCost price_messages(const CollectiveRequest& request, const CollectiveCounts& counts,
                              double memory_bandwidth) {
  CollectiveCost cost;
  cost.counts = counts;
  double bandwidth = memory_bandwidth;
  for (std::size_t n = 0; n < cost.counts.networks.size(); ++n) {
    const CollectiveQuantities& crossed = cost.counts.networks[n];
    const Network& network = request.group.networks[n].network;
    if (crossed.volume_bits == 0) continue;
    bandwidth = std::min(bandwidth, network.link_bandwidth);
    cost.network_latency_s += network.router_latency_s * static_cast<double>(crossed.latency_hops) +
                              network.queue_latency_s * crossed.volume_bits /
                                  static_cast<double>(network.channel_width_bits);
    cost.network_energy_j += crossed.bit_hops / network.bits_per_hop_energy * network.hop_energy_j;
  }
  if (cost.counts.total.volume_bits > 0)
    cost.memory_latency_s = cost.counts.total.volume_bits / bandwidth;
  return cost;
}

std::optional<std::string> why_no_collective(const CollectiveRequest& request,
                                             const std::string& algorithm,
                                             const CollectiveAlgorithms& algorithms) {
  if (auto bad = why_bad_request(request)) return bad;
  if (algorithm != kAuto) {
    const CollectiveAlgorithm* found = algorithms.find(algorithm);
    if (!found) return fmt::format("There is no collective algorithm '{}'.", algorithm);
    return why_not(request, *found);
  }
  for (const auto& candidate : algorithms)
    if (candidate->is_automatic() && !why_not(request, *candidate)) return std::nullopt;
  return fmt::format("No algorithm performs {} on these networks.", collective_name(request.type));
}

CollectiveCounts count_collective(const CollectiveRequest& request, const std::string& algorithm,
                                  const CollectiveAlgorithms& algorithms) {
  const CollectiveAlgorithm* found = algorithms.find(algorithm);
  SLUICE_CHECK(found && !why_no_collective(request, algorithm, algorithms),
               "see why_no_collective");
  CollectiveTally tally(request);
  found->count(tally);
  return tally.counts();
}

namespace {

/// Everything that a price depends on, as bytes.
class PriceKey {
 public:
  PriceKey(const CollectiveRequest& request, const std::string& algorithm,
           double memory_bandwidth) {
    add(request.type);
    add(request.values);
    add(request.bits_per_value);
    add(request.root);
    add(memory_bandwidth);
    add(request.group.networks.size());
    for (const CollectiveNetwork& network : request.group.networks) add_network(network);
    add(request.group.over.size());
    for (const CollectiveDimension& dimension : request.group.over) {
      add(dimension.network);
      add(dimension.dimension);
      add(dimension.participants);
      add(dimension.first);
    }
    add(request.group.standing_at.size());
    for (const std::vector<std::int64_t>& standing : request.group.standing_at) add_list(standing);
    key_ += algorithm;
  }

  const std::string& bytes() const { return key_; }

 private:
  template <class Number>
  void add(Number number) {
    key_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  void add_list(const std::vector<std::int64_t>& list) {
    add(list.size());
    for (std::int64_t value : list) add(value);
  }
  /// What routes and prices read of a network.
  void add_network(const CollectiveNetwork& network) {
    add(network.network.topology);
    add(network.network.ports.places);
    add(network.network.ports.nodes.size());
    for (const std::vector<std::int64_t>& port : network.network.ports.nodes) add_list(port);
    add(network.network.channel_width_bits);
    add(network.network.link_bandwidth);
    add(network.network.router_latency_s);
    add(network.network.queue_latency_s);
    add(network.network.hop_energy_j);
    add(network.network.bits_per_hop_energy);
    add_list(network.fanouts);
  }

  std::string key_;
};

CollectiveCost price_anew(const CollectiveRequest& request, const std::string& algorithm,
                          double memory_bandwidth, const CollectiveAlgorithms& algorithms) {
  SLUICE_CHECK(!why_no_collective(request, algorithm, algorithms), "see why_no_collective");
  if (algorithm != kAuto) return price(request, *algorithms.find(algorithm), memory_bandwidth);
  std::optional<CollectiveCost> best;
  for (const auto& candidate : algorithms) {
    if (!candidate->is_automatic() || why_not(request, *candidate)) continue;
    CollectiveCost cost = price(request, *candidate, memory_bandwidth);
    if (!best || std::make_pair(cost.latency_s(), cost.network_energy_j) <
                     std::make_pair(best->latency_s(), best->network_energy_j))
      best = std::move(cost);
  }
  return *best;
}

/// The prices that one thread has found, all with the same algorithms, which they keep alive.
struct PriceMemory {
  CollectiveAlgorithms algorithms;
  std::unordered_map<std::string, CollectiveCost> prices;
};

}  // namespace

CollectiveCost price_collective(const CollectiveRequest& request, const std::string& algorithm,
                                double memory_bandwidth, const CollectiveAlgorithms& algorithms) {
  // A search prices few collectives many times.
  constexpr std::size_t kMostRemembered = 4096;
  thread_local PriceMemory memory;
  if (!(memory.algorithms == algorithms)) memory = {algorithms, {}};
  auto& remembered = memory.prices;
  const PriceKey key(request, algorithm, memory_bandwidth);
  if (const auto known = remembered.find(key.bytes()); known != remembered.end())
    return known->second;
  if (remembered.size() == kMostRemembered) remembered.clear();
  return remembered
      .emplace(key.bytes(), price_anew(request, algorithm, memory_bandwidth, algorithms))
      .first->second;
}

}  // namespace sluice
