#pragma once

namespace sluice {

/// Whether a sum of costs is no more than another, or the same numbers added up in another way.
inline bool is_at_most(double value, double limit) {
  constexpr double kOtherOrder = 4e-12;
  return value <= limit * (1 + kOtherOrder);
}

}  // namespace sluice
