#pragma once

#include <chrono>
#include <utility>

#include "support/seconds_since.h"

namespace sluice::chains {

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
