#pragma once

#include <atomic>
#include <functional>

#include "mapper/common/side_thread.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/mapper.h"
#include "told_bound.h"

namespace sluice {

/// What chains tell of all mappings (see ChainBound), on a thread of its own beside a search that
/// has not ended after a moment.
class SideChains {
 public:
  /// As of RelaxedBound.
  SideChains(const BoundProblem& problem, const MapperOptions& options, const Incumbent& incumbent,
             const ToldBound& told, const std::atomic<bool>* cancel,
             std::function<void(double)> tell);

  /// Whether they may still know more.
  bool are_at_work() const { return thread_.is_at_work(); }
  /// Ends it. Throws what it threw.
  void finish() { thread_.finish(); }

 private:
  void refine(SideThread* thread);

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const Incumbent& incumbent_;
  OwnBound bound_;
  SideThread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
