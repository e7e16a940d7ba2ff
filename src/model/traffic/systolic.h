#pragma once

#include <cstdint>
#include <optional>

#include "model/tree/nest.h"

namespace sluice {

/// What each fold of an Einsum spends on the systolic array of a nest beyond its steps: filling and
/// draining it.
struct ArrayFolds {
  ComponentId array{};              ///< the container
  std::int64_t fill_and_drain = 0;  ///< cycles of one fold
  int first_loop = 0;               ///< of the nest, over the array: the loops above it are folds
};

/// The array (`array: {kind: systolic, …}`) that a nest spreads over, or nothing.
///
/// SCALE-Sim 3.0.0 (and Samajdar et al., ISPASS 2020, Section III): an array of R rows and C
/// columns works on one fold after the other, and all of it is crossed however little of it a fold
/// uses. Of T steps,
///   ws, is  take 2·R + C + T − 2 cycles: R to load what stays, T + R − 1 until the last value has
///           gone in at the last row, C − 1 until its sum has left at the last column;
///   os      take R + C + T − 2: values go in at once, and the sums of one element leave while
///   others
///           still work.
std::optional<ArrayFolds> array_folds(const BoundProblem& problem, const FlatTree& tree,
                                      const Nest& nest);

}  // namespace sluice
