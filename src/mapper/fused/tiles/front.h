#pragma once

#include <cstdint>
#include <vector>

#include "mapper/common/pareto.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {

struct FrontOptions {
  std::vector<Objective> objectives;
  bool dominance = true;
  bool convex_hull = true;
  bool drop_settled = false;  ///< joins: ignore reservations that cannot bind any more
  std::vector<char> ignored;  ///< per number of a point: it decides nothing any more; empty: none
  std::size_t beam = 0;       ///< > 0: keep at most so many (not exact)
};

/// The options that a search's own imply, before joins add theirs.
FrontOptions front_options(const MapperOptions& options);

/// Which partial mappings of one compatibility are worth keeping. `points` starts with energy and
/// latency, then come reservations. Ascending indices; independent of the order of equal points.
std::vector<std::uint32_t> worth_keeping(const PointSet& points, const FrontOptions& options);

}  // namespace sluice::fused
