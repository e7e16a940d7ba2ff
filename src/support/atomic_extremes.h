#pragma once

#include <atomic>

namespace sluice {

/// `known` is `value` from now on if that is more; threads may do so at the same time.
inline void raise_to(std::atomic<double>& known, double value) {
  double now = known;
  while (value > now && !known.compare_exchange_weak(now, value)) {
  }
}

/// The same if it is less.
inline void lower_to(std::atomic<double>& known, double value) {
  double now = known;
  while (value < now && !known.compare_exchange_weak(now, value)) {
  }
}

}  // namespace sluice
