#pragma once

#include <cstdint>
#include <vector>

#include "model/visits/visit_sum.h"

namespace sluice {

/// Whether several loops above a place move an output's tile through windows (`2*p+r`): then the
/// tiles of two visits overlap, and of what a visit sees only a part may be new.
bool moves_windows(const BoundAccess& access, const NestLoop* loops, int n_loops);

/// Values that the instances of a place see at least once, each instance on its own: the size of
/// the union of its tiles. As visit_sum, with the effect kUnited for loops whose steps an instance
/// sees one after another (or, of spatial ones, together) in a rank that is no variable alone.
std::int64_t first_sights(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                          const BoundAccess& access, const std::vector<VariableRange>& ranges,
                          const std::int64_t* steps = nullptr);

/// The same of the values that lie inside the tensor's ranks (`rank_sizes`, per rank).
std::int64_t first_sights_inside(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                                 const BoundAccess& access,
                                 const std::vector<VariableRange>& ranges,
                                 const std::vector<std::int64_t>& rank_sizes);

/// Visits of a place that see nothing but new values: those of one instance, in the order of the
/// loops; loops over windows have the effect kUnited, the others count as in visit_sum.
std::int64_t visits_of_new_tiles(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                                 const BoundAccess& access,
                                 const std::vector<VariableRange>& ranges);

/// Values that visits_of_new_tiles looks at, at most; 1 where nothing moves windows.
double work_for_new_tiles(const BoundAccess& access, const std::vector<VariableRange>& ranges);

}  // namespace sluice
