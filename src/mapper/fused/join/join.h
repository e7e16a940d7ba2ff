#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "mapper/fused/graph/exchange_graph.h"
#include "mapper/fused/graph/spine_table.h"
#include "mapper/fused/tiles/tile_search.h"
#include "mapper/space/pmapping.h"

namespace sluice::fused {

/// The next Einsum's side of a join, in global tensor ids.
struct NextGroup {
  const PmappingGroup* group = nullptr;
  CompactSpine spine;  ///< all its fused loops and every shared tensor of the Einsum
};

/// One pmapping of each Einsum, by index into its table: group and position.
struct ChosenPmapping {
  std::uint32_t group = 0;
  std::uint32_t index = 0;
};

/// A complete mapping found by joining.
struct JoinedMapping {
  double energy = 0;
  double latency = 0;
  std::vector<double> peaks;  ///< per tracked memory
  std::vector<ChosenPmapping> chosen;
};

struct JoinContext {
  const BoundProblem* problem;
  const MapperOptions* options;
  const std::vector<TrackedMemory>* tracked;
  std::vector<const EinsumShape*> shapes;    ///< per Einsum
  std::vector<const PmappingTable*> tables;  ///< per Einsum
  const ExchangeGraph* graph;                ///< what can be joined to what
  SearchBound bound;                         ///< `others` are filled in by the join
  double epsilon = 0;          ///< so much worse than the best (relative) is good enough
  std::size_t beam = 0;        ///< > 0: keep so many entries a group (not exact)
  std::size_t scout_beam = 0;  ///< > 0: first join with this beam, for a bound
  /// Only mappings below that (and the bound) must be found.
  double exact_below = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(std::size_t einsum)> progress;
  /// Told of what a scout finds, before the exact join.
  std::function<void(const JoinedMapping&)> found;
};

struct JoinResult {
  std::vector<JoinedMapping> mappings;  ///< the front, or the optimum alone
  /// Nothing has a smaller objective but what `mappings` has; infinite where nothing bounded the
  /// search.
  double searched_below = std::numeric_limits<double>::infinity();
  double joined = 0;  ///< pairs of partial mappings looked at
  std::size_t largest_front = 0;
  // Where nothing is legal:
  std::optional<EinsumId> failed_at;
  std::optional<ComponentId> memory;  ///< the one exceeded by least, if capacity is the reason
  double excess_bits = 0;
};

/// Energies and latencies of a group.
LowerHull hull_of(const PmappingGroup& group);

JoinResult join_pmappings(const JoinContext& context);

}  // namespace sluice::fused
