#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include "support/seconds_since.h"

namespace sluice::chains {

/// Of `n` parts of a mapping, that is next which is least: the seconds that it had over its part of
/// the time, of which some goes to all alike, and the rest by their shares of the cost.
inline double turn_of(double seconds, double share_of_cost, std::size_t n) {
  constexpr double kToAll = 0.3;
  return seconds / (kToAll / static_cast<double>(n) + (1 - kToAll) * share_of_cost);
}

/// Whether to go on with a search for better parts of a mapping: for `seconds` at most, and no
/// longer than it gains a little in a while.
class WorthWhile {
 public:
  explicit WorthWhile(double seconds) : seconds_(seconds) {}

  /// A share of what the whole mapping costs.
  void gain(double share) { gained_ += share; }

  bool goes_on() {
    constexpr double kWhile = 0.1, kLittle = 0.01;  // s, share
    if (seconds_since(begin_) >= seconds_) return false;
    if (seconds_since(last_) < kWhile) return true;
    last_ = Clock::now();
    return std::exchange(gained_, 0) >= kLittle;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  double gained_ = 0;
};

}  // namespace sluice::chains
