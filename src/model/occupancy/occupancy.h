#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Live bits of every memory while one Einsum runs, and their peak over the run.
struct Occupancy {
  std::vector<double> peak_bits;      ///< per ComponentId
  std::vector<double> capacity_bits;  ///< per ComponentId: in the Einsum where the peak is
};

/// One reservation while something runs.
struct HeldPart {
  std::uint32_t reservation = 0;
  TensorId tensor;
  double bits = 0;
};

/// What one memory holds while the nests [begin, end) run, or a collective after them.
struct HeldStep {
  int begin = 0, end = 0;
  const FlatCollective* collective = nullptr;
  ComponentId memory = {};
  double bits = 0;  ///< all that it holds then
  std::span<const HeldPart> parts = {};
  /// What is there during the whole run; it is told once, before all steps, and in no part of them.
  bool is_whole_run = false;
};
using HeldListener = std::function<void(const HeldStep&)>;

/// Adds up what is alive in every memory during each Einsum (model.md, "Capacity") and reports each
/// memory that overflows, at the Einsum where the excess is largest. Where Einsums touch different
/// boxes of a tensor, the tree's entries are left with the bits of some moment (see HeldBoxes).
/// `listen` hears of every step and memory, in order; where there are several moments, of each.
Occupancy check_capacities(const BoundProblem& problem, FlatTree& tree, ViolationReport& report,
                           const HeldListener& listen = {});

}  // namespace sluice
