#pragma once

#include <span>
#include <vector>

namespace sluice::fused {

/// Energy (J) and latency (s) of a mapping or of a part of one; both add up over Einsums.
struct EnergyLatency {
  double energy = 0, latency = 0;
};

/// Corners of a lower-left convex hull, ascending in energy, descending in latency. Everything that
/// it stands for lies on or above the lines through neighbours, right of the first and above the
/// last.
using LowerHull = std::vector<EnergyLatency>;

/// The hull of some points.
LowerHull lower_hull(std::vector<EnergyLatency> points);
/// The same in place.
void to_lower_hull(std::vector<EnergyLatency>* points);

/// Appends the corners of the hull of all sums of a point of each: edges merged by slope.
void add_sum(std::span<const EnergyLatency> a, std::span<const EnergyLatency> b,
             std::vector<EnergyLatency>* corners);
LowerHull sum(const LowerHull& a, const LowerHull& b);

/// A hull of at most `corners` (at least 2) corners that lies on or below the given one.
LowerHull coarser(const LowerHull& hull, std::size_t corners);

}  // namespace sluice::fused
