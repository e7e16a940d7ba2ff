#pragma once

#include <cstdint>
#include <vector>

#include "mapper/shape/einsum_shape.h"

namespace sluice::fused {

using Variables = std::uint64_t;  ///< a set of local variables

/// What a tensor's description says of each variable (LocalTensor), as sets.
struct TensorVariables {
  Variables relevant = 0, irrelevant = 0, partial = 0;
  Variables held = 0;  ///< fully relevant to a tile that is held for several steps
  /// Over whose loops a node may slide. Sums go back whole: that saves them nothing.
  Variables windows = 0;
  Variables parted = 0, carried_rows = 0, rows = 0, stepped = 0;
};

/// The variables of an Einsum by what they do: computed once for all of its templates.
struct VariableSets {
  explicit VariableSets(const EinsumShape& shape);

  Variables all = 0;      ///< those with more than one value
  Variables carried = 0;  ///< along which the Einsum reads what its last step wrote
  Variables summed = 0;   ///< irrelevant to the output
  Variables step = 0;     ///< of the recurrence
  std::vector<TensorVariables> tensors;
};

}  // namespace sluice::fused
