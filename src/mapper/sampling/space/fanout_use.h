#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "map_space.h"

namespace sluice::sampling {

/// Instances of each demanding fanout that trip counts use, as far as `min_usage` counts them.
std::vector<double> capped_use(const std::vector<DemandingFanout>& fanouts,
                               const fused::Template& templ, const Trips& trips);

/// The soft filter `min_usage`: of the tile shapes of a placement (Template::placement) that fit,
/// those that use enough of its fanouts, or else, one fanout after the other, those that use most.
/// Where it would take long to find out what fits, only those that use enough. Safe to share
/// between threads.
class FanoutUse {
 public:
  explicit FanoutUse(const MapSpace& space) : space_(space) {}

  /// Whether every fanout is used as much as `min_usage` wants. Cheap.
  bool is_full(std::size_t einsum, std::uint32_t templ, const Trips& trips) const;
  bool is_enough(std::size_t einsum, std::uint32_t templ, const Trips& trips);
  /// A choice with a template that its space gets where it is new; null where it is none of the
  /// Einsum's, or uses too little. Not safe while others use the space.
  ChoicePtr choice(std::size_t einsum, fused::Template templ, const Trips& trips, MapSpace* space);

 private:
  std::vector<double> most(std::size_t einsum, std::uint32_t placement,
                           const std::vector<DemandingFanout>& fanouts) const;

  const MapSpace& space_;
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> most_;  // list, placement
};

}  // namespace sluice::sampling
