#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sluice/mapping/collective_group.h"

namespace sluice::referee {

/// The referee of collectives: performs one step by step on numbers, every message link by link,
/// and counts what crosses. Shares no counting with the cost formulas
/// (`sluice/model/collective_cost.h`).

/// A value of a collective: whose vector it is of (all_to_all; else 0), and its index in it.
using CollectiveItem = std::pair<int, std::int64_t>;
using CollectiveBuffer = std::map<CollectiveItem, double>;

/// What crossed one network, or all of them.
struct CollectiveCount {
  std::int64_t latency_hops = 0;  ///< Σ over steps of the links of the longest route
  double volume_bits = 0;         ///< Σ over messages (of a network: over those that cross it)
  double bit_hops = 0;            ///< Σ over messages of bits × links
  friend bool operator==(const CollectiveCount&, const CollectiveCount&) = default;
};

struct CollectiveRun {
  CollectiveCount total;
  std::vector<CollectiveCount> networks;  ///< as in the group
  std::int64_t combined_values = 0;       ///< reductions of two numbers into one
  std::vector<CollectiveBuffer> results;  ///< per participant: what the collective owes it
};

/// Whether the referee can perform an algorithm of this name at all: those of the model alone.
bool knows_algorithm(const std::string& algorithm);

/// Whether the algorithm exists, knows the type and finds the networks that it needs.
bool can_perform(const CollectiveRequest& request, const std::string& algorithm);

/// Runs `algorithm` (by its name in mappings) on `data`: per participant a vector of
/// `request.values` numbers, of which only what it holds before is looked at. Throws InternalError
/// where the algorithm has no such collective or leaves a participant without a value.
CollectiveRun run_collective(const CollectiveRequest& request, const std::string& algorithm,
                             Reduction op, const std::vector<std::vector<double>>& data);

}  // namespace sluice::referee
