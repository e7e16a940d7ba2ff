#pragma once

#include <vector>

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Live bits of every memory while one Einsum runs, and their peak over the run.
struct Occupancy {
  std::vector<double> peak_bits;      ///< per ComponentId
  std::vector<double> capacity_bits;  ///< per ComponentId: in the Einsum where the peak is
};

/// Adds up what is alive in every memory during each Einsum (model.md, "Capacity") and reports each
/// memory that overflows, at the Einsum where the excess is largest. Where Einsums touch different
/// boxes of a tensor, the tree's entries are left with the bits of some moment (see HeldBoxes).
Occupancy check_capacities(const BoundProblem& problem, FlatTree& tree, ViolationReport& report);

}  // namespace sluice
