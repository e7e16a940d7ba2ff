#pragma once

namespace sluice {

/// A bound that holds for the same sum, added up in another order.
inline double surely_below(double bound) {
  constexpr double kOtherOrder = 1e-12;
  return bound * (1 - kOtherOrder);
}

}  // namespace sluice
