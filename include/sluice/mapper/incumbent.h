#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The best mapping that searches side by side on one problem have in hand, by the first objective
/// that they minimise. Whoever finds a better one offers it, whoever prunes asks how good it is.
/// Safe to share between threads.
class Incumbent {
 public:
  using Listener = std::function<void(double objective, const MappedResult& mapped)>;
  /// `listener`: is told of every better mapping, one at a time; may be empty.
  explicit Incumbent(Listener listener = {}) : listener_(std::move(listener)) {}

  /// Of the best mapping, in J, s or J·s; infinite where there is none.
  double objective() const { return objective_.load(); }

  /// Keeps what is better than the best so far.
  void offer(double objective, MappedResult mapped) {
    const std::lock_guard lock(mutex_);
    if (!(objective < objective_.load())) return;
    best_ = std::move(mapped);
    objective_ = objective;
    if (listener_) listener_(objective, *best_);
  }

  std::optional<MappedResult> best() const {
    const std::lock_guard lock(mutex_);
    return best_;
  }

 private:
  Listener listener_;
  mutable std::mutex mutex_;
  std::atomic<double> objective_{std::numeric_limits<double>::infinity()};
  std::optional<MappedResult> best_;
};

}  // namespace sluice
