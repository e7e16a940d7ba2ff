#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spatial_choices.h"
#include "tile_search.h"

namespace sluice::fused {

/// The choices for the spatial loops of a template that are worth going on with.
struct LoopStarts {
  std::vector<std::uint32_t> nodes;  ///< per choice a trie's node of each class
  std::size_t n = 0;                 ///< choices
  /// No tile shape has a lower objective.
  double bound = std::numeric_limits<double>::infinity();
};

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

  std::vector<FanoutDimension> fanouts;  ///< of which no tile shape uses more than there is
  /// Fanouts by whose use tile shapes are selected, and which uses may be.
  std::vector<FanoutDimension> selected_by;
  std::function<bool(const std::vector<std::int64_t>& use)> may_use;
  const LoopStarts* starts = nullptr;  ///< of find_starts(); may be missing
};

struct LoopSearchResult {
  std::vector<std::uint32_t> states;  ///< per class
  EnergyLatency cost;
  bool found = false;    ///< false: none is within the bound
  bool gave_up = false;  ///< cancelled, or `most_work` was not enough
  double made = 0;       ///< partial assignments
};

/// The tile shape of a template with the least objective, as far as it is within the bound; of
/// equal ones that of less energy, then the first. Loop by loop, all classes side by side, first
/// the spatial loops, then the temporal ones, each from the outside in. Partial assignments with
/// the same choices left, each of which multiplies the products of both by the same factors, are
/// compared with each other; all are held against the bound.
LoopSearchResult search_loops(const LoopSearchRequest& request);

/// What search_loops() begins with. None where the search was cancelled.
std::optional<LoopStarts> find_starts(const LoopSearchRequest& request);

}  // namespace sluice::fused
