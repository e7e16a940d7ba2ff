#pragma once

#include <vector>

#include "sluice/model/binding.h"
#include "sluice/report/explanation.h"

namespace sluice::cli {

/// All that a machine can have twice as much of, in the order of its components: finite
/// throughputs (of all actions of a component together), finite sizes of memories, fanouts.
std::vector<ShadowPrice> doublings(const BoundProblem& problem);

/// The problem with the settings of one of them, as `--set` makes it. Diagnostics where there is no
/// such machine.
Result<BoundProblem> with_doubled(const BoundProblem& problem, const ShadowPrice& doubling);

}  // namespace sluice::cli
