#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tile_search.h"

namespace sluice::fused {

/// What a search of one template loop by loop is about.
struct LoopSearchRequest {
  const std::vector<VariableClass>* classes = nullptr;
  const std::vector<std::shared_ptr<StateTable>>* tables = nullptr;  ///< per class
  const SimpleProgram* program = nullptr;  ///< rows of energy, latency and limits alone
  SearchBound bound;
  std::function<void(SearchBound*)> tighten;  ///< asked now and then
  const std::atomic<bool>* cancel = nullptr;
  double most_work = std::numeric_limits<double>::infinity();  ///< partial assignments made
  std::size_t beam =
      0;  ///< > 0: so many partial assignments are kept, of the lowest bounds (not exact)

  /// Spatial dimensions by whose use tile shapes are selected, and which uses may be.
  std::vector<std::pair<ComponentId, std::uint32_t>> selected_by;
  std::function<bool(const std::vector<std::int64_t>& use)> may_use;
};

struct LoopSearchResult {
  std::vector<std::uint32_t> states;  ///< per class
  EnergyLatency cost;
  bool found = false;    ///< false: none is within the bound
  bool gave_up = false;  ///< cancelled, or `most_work` was not enough
  double made = 0;       ///< partial assignments
};

/// The tile shape of a template with the least objective, as far as it is within the bound; of
/// equal ones that of less energy, then the first. Loop by loop, all classes side by side, the
/// spatial loops before the temporal ones right above them. Partial assignments with the same
/// choices left, each of which multiplies the products of both by the same factors, are compared
/// with each other; all are held against the bound.
LoopSearchResult search_loops(const LoopSearchRequest& request);

}  // namespace sluice::fused
