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

/// Draws tile shapes whose outermost loop over a variable is uneven (`imperfect_factors`).
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
  /// The same of shared loops.
  bool are_next_if_shared() const {
    return space_.options().imperfect_factors == ImperfectFactors::kAll && are_next();
  }
  /// Gives the loops over one variable other trip counts, among those that no other Einsum shares:
  /// whether it did. Limits of the space are not looked at.
  bool draw(std::size_t einsum, std::uint32_t templ, Trips* trips) const;
  /// The same for the variable of a loop that becomes the outermost; those inside it are not
  /// shared.
  bool draw_at(std::size_t einsum, std::uint32_t templ, std::size_t outer, Trips* trips) const;
  /// The same with trips of the outermost loop that are known.
  bool fill(std::size_t einsum, std::uint32_t templ, std::size_t outer, std::int64_t outer_trips,
            Trips* trips) const;

 private:
  struct Variable {
    std::int64_t size = 1;
    std::vector<std::size_t> places;  ///< of its loops that are not fused, outermost first
  };
  std::vector<Variable> variables(std::size_t einsum, std::uint32_t templ,
                                  const Trips& trips) const;
  std::vector<std::size_t> places_inside(const fused::Template& templ, std::size_t outer) const;
  std::int64_t draw_steps(std::int64_t parts, std::int64_t most_parts) const;
  void spread(const fused::Template& templ, const std::vector<std::size_t>& inside,
              std::size_t first, std::int64_t tile, std::int64_t rest, Trips* trips) const;

  const MapSpace& space_;
  RandomSource& random_;
};

}  // namespace sluice::sampling
