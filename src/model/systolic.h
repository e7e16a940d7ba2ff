#pragma once

#include <cstdint>
#include <optional>

#include "model/nest.h"

namespace sluice {

/// Steps of a compute behind a container marked `array: {kind: systolic, …}`, or nothing where the
/// nest does not spread over one. SCALE-Sim's analytical runtime (Samajdar et al., ISPASS 2020, eq.
/// 4): a fold of R × C processing elements over T time steps takes 2·R + C + T − 2 cycles; R, C are
/// the used extents, T the trips of the temporal loops inside, and each trip of those outside is a
/// fold.
std::optional<std::int64_t> systolic_cycles(const BoundProblem& problem, const FlatTree& tree,
                                            const Nest& nest);

}  // namespace sluice
