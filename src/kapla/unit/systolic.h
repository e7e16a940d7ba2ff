#pragma once

#include "unit_pass.h"

namespace sluice::kapla {

/// One pass of a systolic array: elements down hold output pixels, elements across output channels;
/// the taps of the window come one after the other. Folds may cut pixels and channels unevenly:
/// numbers are averages.
struct SystolicUnit {
  double rows = 1;  ///< of the output plane
  double columns = 1;
  double channels_out = 1;
};

/// Values of one pass: of each tensor, and operations.
struct SystolicWords {
  double weights = 0;
  double input = 0;
  double output = 0;
  double operations = 0;
};
SystolicWords systolic_words(const LayerShape& layer, const SystolicUnit& unit);

/// The greatest divisor of `value` that is no larger than `limit`; 1 if there is none.
std::int64_t divisor_up_to(std::int64_t value, double limit);

}  // namespace sluice::kapla
