#include "pareto.h"

#include <algorithm>
#include <numeric>

namespace sluice::fused {

std::vector<std::uint32_t> pareto_front(const PointSet& points) {
  const std::size_t n = points.size(), d = points.dimension;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  if (n <= 1) return order;
  // A point can only be dominated by one that is lexicographically smaller (or equal and earlier).
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double* x = points.point(a);
    const double* y = points.point(b);
    for (std::size_t k = 0; k < d; ++k)
      if (x[k] != y[k]) return x[k] < y[k];
    return a < b;
  });
  std::vector<std::uint32_t> kept;
  std::vector<double> kept_values;
  for (std::uint32_t i : order) {
    const double* p = points.point(i);
    bool dominated = false;
    for (std::size_t k = 0; k < kept.size() && !dominated; ++k)
      dominated = dominates(kept_values.data() + k * d, p, d);
    if (dominated) continue;
    kept.push_back(i);
    kept_values.insert(kept_values.end(), p, p + d);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace sluice::fused
