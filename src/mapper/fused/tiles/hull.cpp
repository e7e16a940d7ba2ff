#include "hull.h"

#include <algorithm>
#include <cstddef>

namespace sluice::fused {
namespace {

/// > 0: c lies above the line from a to b.
double above(const EnergyLatency& a, const EnergyLatency& b, const EnergyLatency& c) {
  return (b.energy - a.energy) * (c.latency - a.latency) -
         (b.latency - a.latency) * (c.energy - a.energy);
}

/// Where the line through a and b meets the one through c and d; b or c if they are parallel.
EnergyLatency meet(const EnergyLatency& a, const EnergyLatency& b, const EnergyLatency& c,
                   const EnergyLatency& d) {
  const double x1 = b.energy - a.energy, y1 = b.latency - a.latency;
  const double x2 = d.energy - c.energy, y2 = d.latency - c.latency;
  const double cross = x1 * y2 - y1 * x2;
  if (cross <= 0) return {std::min(b.energy, c.energy), std::min(b.latency, c.latency)};
  const double t = ((c.energy - a.energy) * y2 - (c.latency - a.latency) * x2) / cross;
  return {a.energy + t * x1, a.latency + t * y1};
}

}  // namespace

void to_lower_hull(std::vector<EnergyLatency>* points) {
  std::sort(points->begin(), points->end(), [](const EnergyLatency& a, const EnergyLatency& b) {
    return a.energy != b.energy ? a.energy < b.energy : a.latency < b.latency;
  });
  EnergyLatency* hull = points->data();  // its corners so far, in front of the points to come
  std::size_t n = 0;
  for (const EnergyLatency point : *points) {
    if (n > 0 && point.latency >= hull[n - 1].latency) continue;
    while (n >= 2 && above(hull[n - 2], hull[n - 1], point) <= 0) --n;
    hull[n++] = point;
  }
  points->resize(n);
}

LowerHull lower_hull(std::vector<EnergyLatency> points) {
  to_lower_hull(&points);
  return points;
}

void add_sum(std::span<const EnergyLatency> a, std::span<const EnergyLatency> b,
             std::vector<EnergyLatency>* corners) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    corners->push_back({a[i].energy + b[j].energy, a[i].latency + b[j].latency});
    const bool end_a = i + 1 == a.size(), end_b = j + 1 == b.size();
    if (end_a && end_b) break;
    if (end_a) {
      ++j;
    } else if (end_b) {
      ++i;
    } else {
      const double xa = a[i + 1].energy - a[i].energy, ya = a[i + 1].latency - a[i].latency;
      const double xb = b[j + 1].energy - b[j].energy, yb = b[j + 1].latency - b[j].latency;
      if (ya * xb < yb * xa)  // the steeper descent first
        ++i;
      else
        ++j;
    }
  }
}

LowerHull sum(const LowerHull& a, const LowerHull& b) {
  LowerHull result;
  add_sum(a, b, &result);
  return result;
}

LowerHull coarser(const LowerHull& hull, std::size_t corners) {
  if (hull.size() <= corners) return hull;
  // Keep every k-th edge and let neighbours meet; the ends meet the vertical and the horizontal.
  const std::size_t edges = hull.size() - 1, kept = corners - 1;
  LowerHull result;
  std::size_t last = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t edge = i * (edges - 1) / (kept > 1 ? kept - 1 : 1);
    if (i == 0) {
      result.push_back(hull[edge]);
    } else if (edge == last + 1) {
      result.push_back(hull[edge]);
    } else {
      result.push_back(meet(hull[last], hull[last + 1], hull[edge], hull[edge + 1]));
    }
    last = edge;
  }
  result.push_back(hull.back());
  return result;
}

}  // namespace sluice::fused
