#pragma once

#include <vector>

#include "oracle/nest.h"

namespace sluice::oracle {

/// Bits that the backing nodes of an Einsum's nest take because other Einsums touch more of a
/// shared tensor than it does (the other slice of a state, rows at other constants, more
/// repetitions): per component. `bound`: the Einsum, with the bits per value that count.
std::vector<double> room_for_others(const BoundProblem& problem, const BoundEinsum& bound,
                                    const Pmapping& nest);

}  // namespace sluice::oracle
