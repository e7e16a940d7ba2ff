#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "map_space.h"
#include "mapper/shape/trip_choices.h"
#include "random_source.h"

namespace sluice::sampling {

/// Whether a variable's outermost loop is uneven: the tile inside the next one divides the size, so
/// that factors cannot move from loop to loop.
inline bool is_uneven(const fused::Template& templ, const Trips& trips, std::uint32_t variable) {
  for (std::size_t l = 0; l < trips.size(); ++l)
    if (templ.loops[l].variable == variable && fused::is_uneven(trips[l])) return true;
  return false;
}

/// Draws tile shapes whose outermost loop over a variable is uneven (`imperfect_factors`), among
/// loops that no other Einsum shares.
class UnevenLoops {
 public:
  /// Both must outlive it.
  UnevenLoops(const MapSpace& space, RandomSource* random) : space_(space), random_(*random) {}

  /// Whether the space may have such loops.
  bool may_have_any() const {
    return space_.options().imperfect_factors != ImperfectFactors::kNone;
  }
  /// Whether the next step to another tile shape is to be one of these: three of ten.
  bool are_next() const {
    constexpr double kShare = 0.3;
    return may_have_any() && random_.chance(kShare);
  }
  /// Gives the loops over one variable other trip counts: whether it did. They factorise the
  /// variable; limits of the space are not looked at.
  bool draw(std::size_t einsum, std::uint32_t templ, Trips* trips) const;

 private:
  struct Variable {
    std::int64_t size = 1;
    std::vector<std::size_t> places;  ///< of its loops that are not fused, outermost first
  };
  std::vector<Variable> variables(std::size_t einsum, std::uint32_t templ,
                                  const Trips& trips) const;
  std::int64_t draw_steps(std::int64_t parts, std::int64_t most_parts) const;

  const MapSpace& space_;
  RandomSource& random_;
};

}  // namespace sluice::sampling
