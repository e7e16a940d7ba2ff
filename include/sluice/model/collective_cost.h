#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "sluice/mapping/collective_group.h"
#include "sluice/support/registry.h"

namespace sluice {

/// What a collective costs (COMET §IV-B; docs/collectives.md). `referee::run_collective` performs
/// the same collectives on numbers and counts independently.

/// The three quantities of a collective, over one network or over all of them.
struct CollectiveQuantities {
  std::int64_t latency_hops = 0;  ///< `hops` of eq. 3: Σ over steps of the longest route, in links
  double volume_bits = 0;         ///< `DV` of eq. 1 and 3: Σ over messages
  double bit_hops = 0;            ///< Σ over messages of bits × links of its route
  friend bool operator==(const CollectiveQuantities&, const CollectiveQuantities&) = default;
};

struct CollectiveCounts {
  CollectiveQuantities total;
  /// As in the group. `volume_bits` of a network: of the messages that cross it; `latency_hops`:
  /// its links in the step's longest route (most links in all; of equals, more further out).
  std::vector<CollectiveQuantities> networks;
  std::int64_t combined_values = 0;  ///< operations that reduce two values into one
  friend bool operator==(const CollectiveCounts&, const CollectiveCounts&) = default;
};

struct CollectiveCost {
  std::string algorithm;  ///< never `auto`
  CollectiveCounts counts;
  double memory_latency_s = 0;   ///< eq. 1: DV / min(memory bandwidth, link bandwidth)
  double network_latency_s = 0;  ///< eq. 3: t_router · hops + t_enq · DV / W, each network its own
  double network_energy_j = 0;   ///< Σ over networks of bit_hops × energy of a hop
  double latency_s() const { return memory_latency_s + network_latency_s; }  ///< eq. 4
};

class CollectiveAlgorithm;
/// In the order in which `auto` prefers equals.
using CollectiveAlgorithms = Registry<CollectiveAlgorithm>;

/// recursive_doubling, recursive_halving_doubling, ring, tree, direct, per_dimension,
/// greedy_tree.
const CollectiveAlgorithms& standard_collective_algorithms();

/// Why this algorithm (or every one, if it is `auto`) cannot perform the request: a sentence; none
/// if it can. Also checks the request itself: networks, extents, root.
std::optional<std::string> why_no_collective(
    const CollectiveRequest& request, const std::string& algorithm,
    const CollectiveAlgorithms& algorithms = standard_collective_algorithms());

/// The counts of one algorithm, not `auto`. Precondition: `why_no_collective` has no objection.
CollectiveCounts count_collective(
    const CollectiveRequest& request, const std::string& algorithm,
    const CollectiveAlgorithms& algorithms = standard_collective_algorithms());

/// Counts and price; `auto` takes the fastest, of equally fast ones that with less network energy.
/// `memory_bandwidth`: bit/s, the slower of reading at the source and writing at the destination.
/// Same precondition.
CollectiveCost price_collective(
    const CollectiveRequest& request, const std::string& algorithm, double memory_bandwidth,
    const CollectiveAlgorithms& algorithms = standard_collective_algorithms());

/// Eq. 1 to 4 for messages that are counted already, on the request's networks; no algorithm.
CollectiveCost price_messages(const CollectiveRequest& request, const CollectiveCounts& counts,
                              double memory_bandwidth);

}  // namespace sluice
