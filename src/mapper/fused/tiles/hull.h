#pragma once

#include <cstddef>
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

/// Many hulls, their corners side by side.
class HullList {
 public:
  std::size_t size() const { return first_.size() - 1; }
  std::span<const EnergyLatency> operator[](std::size_t i) const {
    return {corners_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  void add(std::span<const EnergyLatency> corners) {
    corners_.insert(corners_.end(), corners.begin(), corners.end());
    first_.push_back(corners_.size());
  }
  void shrink_to_fit() {
    first_.shrink_to_fit();
    corners_.shrink_to_fit();
  }

 private:
  std::vector<std::size_t> first_{0};
  std::vector<EnergyLatency> corners_;
};

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
