#pragma once

#include <map>

#include "program.h"
#include "referee/points/points.h"

namespace sluice::referee {

/// Storages whose values go from one step of a loop to the next (docs/model.md, "Capacity"), each
/// with the outermost temporal loop that it hands values on over: ids of storages and loops. Found
/// by taking every step of the loops above, with nothing but the tiles. Backing storages of tensors
/// that nobody makes, and those that last for the whole run, are none of them; others are if they
/// slide over a loop above a split. Loops around a pipelined or parallel split, its own steps among
/// them, count for nothing that stands below it: no state is handed on there.
std::map<std::size_t, std::size_t> lasting_storages(const Workload& workload,
                                                    const Program& program);

}  // namespace sluice::referee
