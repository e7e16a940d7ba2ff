#pragma once

#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "mapper/sampling/space/fanout_use.h"
#include "mapper/sampling/space/map_space.h"

namespace sluice {

/// The best mapping of walks side by side, each in a space of templates of its own. Safe to share
/// between threads.
class BestOfWalks {
 public:
  void offer(double objective, const sampling::Genome& genome, const sampling::MapSpace& space);
  /// The best as a mapping of another space, if it is below `objective` there; it gets the
  /// templates that it does not have.
  std::optional<sampling::Genome> below(double objective, sampling::MapSpace* space,
                                        sampling::FanoutUse* use) const;

 private:
  struct Choice {
    fused::Template templ;
    sampling::Trips trips;
  };
  mutable std::mutex mutex_;
  double objective_ = std::numeric_limits<double>::infinity();
  std::vector<Choice> choices_;  ///< per Einsum
};

}  // namespace sluice
