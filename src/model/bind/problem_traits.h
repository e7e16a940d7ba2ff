#pragma once

#include "sluice/model/binding.h"

namespace sluice {

/// True if some Einsum reads an intermediate so that row tiles may have to be derived.
bool shares_rows(const BoundProblem& problem);

/// True if Einsums touch different boxes of some tensor; then HeldBoxes works out what memories
/// hold.
bool holds_unlike_boxes(const BoundProblem& problem);

}  // namespace sluice
