#pragma once

#include "kapla/layer/layer_shape.h"
#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

/// What a node does between two steps of its loops: one pass of its array.
struct UnitPass {
  PerMemory<PerOperand<double>>
      access{};  ///< words; registers: one read or write of each operation
  PerOperand<bool>
      reusable{};  ///< whether registers still hold the tensor when the next pass starts
  double operations = 0;
  std::int64_t cycles = 0;
};

/// Copies of a pass that run side by side on the array, by what they differ in.
struct Copies {
  std::int64_t samples = 1;
  std::int64_t channels_in = 1;
  std::int64_t channels_out = 1;
  std::int64_t rows = 1;  ///< of the plane (of the pixels, in systolic arrays)
  std::int64_t all() const { return samples * channels_in * channels_out * rows; }
};

/// How a logical array of `h` × `w` elements lies on the physical one: cut into `fold` pieces one
/// after the other where it is larger, else repeated.
struct Folds {
  Extent fold;
  Extent repeat;
};
Folds folds_of(const Extent& logical, const Extent& physical);

/// Room below for more copies takes folds of the width, and the other way round.
Folds folded_into_room(const Folds& folds);

/// Input and output change places.
void exchange_input_and_output(UnitPass& pass);

}  // namespace sluice::kapla
