#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "drawer.h"
#include "mapper/fused/price/template_price.h"
#include "mapper/sampling/space/uneven_loops.h"

namespace sluice::sampling {

/// What is to be as small as possible, of an Einsum's energy and latency; never negative.
using Share = std::function<double(const CostTotals&)>;

inline CostTotals totals_of(const fused::TemplatePrice::Price& price) {
  CostTotals totals;
  totals.energy_j = price.energy_j;
  totals.latency_s = price.latency_s;
  return totals;
}

/// A walk over the tile shapes of one template: prime factors move between loops that nobody
/// shares, or an outermost loop gets uneven tiles, as annealing takes such steps, a hundred times
/// as many as the model prices in the same time.
class ShapeWalk {
 public:
  ShapeWalk(const MapSpace& space, FanoutUse* use, RandomSource* random)
      : space_(space), use_(*use), random_(*random), uneven_(space, random) {}

  /// The best of `steps` steps from a choice on, and its price; null where none is better. At
  /// first a step that is worse by the share `heat` is taken with probability 1/e.
  std::pair<ChoicePtr, CostTotals> best(std::size_t einsum, const EinsumChoice& start,
                                        fused::TemplatePrice* price, const Share& share, int steps,
                                        double heat);

 private:
  /// Places of one variable's loops that may get each other's factors.
  struct Places {
    std::uint32_t variable = 0;
    std::vector<std::size_t> loops;
    std::vector<std::int64_t> primes;  ///< of the variable's size
  };

  std::vector<Places> places_of(std::size_t einsum, const EinsumChoice& start) const;
  bool move_factor(const Places& places, Trips* trips);
  bool step(std::size_t einsum, std::uint32_t templ, const std::vector<Places>& places,
            Trips* trips);

  const MapSpace& space_;
  FanoutUse& use_;
  RandomSource& random_;
  UnevenLoops uneven_;
};

}  // namespace sluice::sampling
