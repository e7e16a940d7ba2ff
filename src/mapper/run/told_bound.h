#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/mapper.h"
#include "support/atomic_extremes.h"

namespace sluice {

/// Remembers the best bound that a search tells on its way: where it is cancelled, its result may
/// know less.
class ToldBound {
 public:
  explicit ToldBound(MapperControl* control) : next_(std::move(control->bound)) {
    control->bound = [this](double bound) { take(bound); };
  }
  ToldBound(const ToldBound&) = delete;
  ToldBound& operator=(const ToldBound&) = delete;

  double best() const { return best_; }
  /// Whether the best mapping is so near to it that what is left is for the proof to find.
  bool is_near(const Incumbent& incumbent) const {
    constexpr double kNear = 1.05;
    return incumbent.objective() <= kNear * best_;
  }

 private:
  void take(double bound) {
    raise_to(best_, bound);
    if (next_) next_(bound);
  }

  std::function<void(double)> next_;
  std::atomic<double> best_ = 0;
};

/// Tells bounds on, and whether all of them are below what others have told.
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
  /// Whether a better one is little help: others have brought the best mapping near to theirs.
  bool is_idle(const Incumbent& incumbent) const {
    return all_.is_near(incumbent) && best_ < all_.best();
  }

 private:
  const ToldBound& all_;
  std::function<void(double)> tell_;
  std::atomic<double> best_ = 0;
};

}  // namespace sluice
