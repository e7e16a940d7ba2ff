#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/mapper.h"
#include "support/atomic_extremes.h"

namespace sluice {

/// How long the machine is the walks' and the search's own first, with a budget (s).
inline constexpr double kWalksFirst = 2;

/// How long after a search begins what bounds it beside it does (s): an answer comes first; without
/// a budget the proof, which the search itself is after.
inline double bounds_begin_s(std::optional<double> budget_s) {
  constexpr double kSoonest = 0.4, kOfBudget = 0.4, kWithout = 5;  // s
  return budget_s ? std::clamp(kOfBudget * *budget_s, kSoonest, kWalksFirst) : kWithout;
}

/// Remembers the best bound that a search and what runs beside it tell on their way: where the
/// search is cancelled, its result may know less.
class ToldBound {
 public:
  explicit ToldBound(MapperControl* control) : next_(std::move(control->bound)) {
    control->bound = [this](double bound) { take(bound); };
  }
  ToldBound(const ToldBound&) = delete;
  ToldBound& operator=(const ToldBound&) = delete;

  double best() const { return best_; }
  /// Whether the search itself is under way, which may prove something within a budget.
  void set_proving(bool is_proving) { is_proving_ = is_proving; }
  /// Whether the best mapping is so near to the bound that what is left is for the proof to find.
  bool leaves_it_to_proof(const Incumbent& incumbent) const {
    constexpr double kNear = 1.05;
    return is_proving_ && incumbent.objective() <= kNear * best_;
  }

 private:
  void take(double bound) {
    const std::lock_guard lock(mutex_);
    if (!(bound > best_)) return;
    best_ = bound;
    if (next_) next_(bound);
  }

  std::function<void(double)> next_;
  std::mutex mutex_;  ///< one at a time is told
  std::atomic<double> best_ = 0;
  std::atomic<bool> is_proving_ = false;
};

/// The bounds that one of several tells on.
class OwnBound {
 public:
  OwnBound(const ToldBound& all, std::function<void(double)> tell)
      : all_(all), tell_(std::move(tell)) {}
  OwnBound(const OwnBound&) = delete;
  OwnBound& operator=(const OwnBound&) = delete;

  void tell(double bound) {
    raise_to(best_, bound);
    if (tell_) tell_(bound);
  }
  /// Whether a better one is little help: others know more, and what is left is for the proof.
  bool is_idle(const Incumbent& incumbent) const {
    return all_.leaves_it_to_proof(incumbent) && best_ < all_.best();
  }

 private:
  const ToldBound& all_;
  std::function<void(double)> tell_;
  std::atomic<double> best_ = 0;
};

}  // namespace sluice
