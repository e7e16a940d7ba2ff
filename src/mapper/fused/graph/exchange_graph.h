#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "mapper/fused/tiles/tile_search.h"
#include "mapper/space/pmapping.h"
#include "mapper/space/spine.h"
#include "spine_table.h"

namespace sluice::fused {

/// Joining a compatibility of one Einsum to a spine of the Einsums before it.
struct ExchangeEdge {
  std::uint32_t from = 0;   ///< spine before the Einsum
  std::uint32_t group = 0;  ///< the Einsum's group of pmappings
  std::uint32_t to = 0;     ///< spine after it
};

/// Which compatibilities of consecutive Einsums go together: a layered graph of spines. Only what
/// lies on a complete path is kept, so that pmappings are joined only where they can end in a
/// mapping.
struct ExchangeGraph {
  std::vector<std::size_t> n_spines;             ///< per layer 0 … number of Einsums
  std::vector<std::vector<ExchangeEdge>> edges;  ///< per Einsum, ascending by from, group
  TensorUses uses;
  std::optional<std::size_t> broken_at;  ///< Einsum that nothing can be joined to
};

/// Of all Einsums.
inline std::size_t count_edges(const std::vector<std::vector<ExchangeEdge>>& edges) {
  std::size_t n = 0;
  for (const std::vector<ExchangeEdge>& of_einsum : edges) n += of_einsum.size();
  return n;
}

/// One Einsum's part in a graph: the compatibilities of its priced pmappings.
struct ExchangeLayer {
  const EinsumShape* shape = nullptr;
  const std::vector<PmappingGroup>* groups = nullptr;
};

struct GraphOptions {
  bool drop_dead_ends = true;  ///< keep only what lies on a complete path
  SearchBound bound;           ///< and what may beat a known mapping, and fits
  const std::vector<TrackedMemory>* tracked = nullptr;
  /// Told soon what no mapping's objective is below, of those that beat the bound.
  std::function<void(double objective)> least;
  std::size_t beam = 0;  ///< > 0: keep so many spines a layer, the cheapest so far (not exact)
  const std::atomic<bool>* cancel = nullptr;
  Leftovers* leftovers = nullptr;  ///< as in MapperControl
  int threads = 1;
};

/// Connects the compatibilities of all Einsums, in order.
ExchangeGraph connect_exchanges(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
                                const GraphOptions& options);

}  // namespace sluice::fused
