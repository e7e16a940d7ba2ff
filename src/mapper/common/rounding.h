#pragma once

namespace sluice {

/// Costs are sums and products of rounded numbers, in one order here and in another there. What a
/// search compares with what it knows may be off by this factor: so much above is as good, and is
/// found again.
inline constexpr double kAboveRounding = 1 + 1e-9;
inline constexpr double kBelowRounding = 1 - 1e-9;

/// A bound that holds for the same sum, added up in another order.
inline double surely_below(double bound) {
  constexpr double kOtherOrder = 1e-12;
  return bound * (1 - kOtherOrder);
}

/// Whether a sum of costs is no more than another, or the same numbers added up in another way: of
/// a bound by surely_below(), and of a cost, too.
inline bool is_at_most(double value, double limit) {
  constexpr double kOtherOrder = 4e-12;
  return value <= limit * (1 + kOtherOrder);
}

}  // namespace sluice
