#pragma once

namespace sluice {

/// What a count is worth: count × times ÷ per.
struct Rate {
  double times = 1, per = 1;
  double of(double count) const { return count * times / per; }
  double factor() const { return times / per; }
};

}  // namespace sluice
