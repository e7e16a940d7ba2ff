#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::fused {

/// Points of `dimension` criteria each, smaller is better, row by row.
struct PointSet {
  std::size_t dimension = 0;
  std::vector<double> values;
  std::size_t size() const { return dimension == 0 ? 0 : values.size() / dimension; }
  const double* point(std::size_t i) const { return values.data() + i * dimension; }
};

/// True if `a` is at most `b` in every criterion (equal points dominate each other).
inline bool dominates(const double* a, const double* b, std::size_t dimension) {
  for (std::size_t d = 0; d < dimension; ++d)
    if (a[d] > b[d]) return false;
  return true;
}

/// Indices of the points that no other dominates, ascending; of equal points the first. Once
/// `cancel` is set, only some of them.
std::vector<std::uint32_t> pareto_front(const PointSet& points,
                                        const std::atomic<bool>* cancel = nullptr);

/// The same among points alone that are 0 in the same criteria from `first` on. Where products with
/// fixed trips are 0 (Monomial::fixed), no other choice of these trips dominates.
std::vector<std::uint32_t> pareto_fronts_by_zeros(const PointSet& points, std::size_t first,
                                                  const std::atomic<bool>* cancel = nullptr);

}  // namespace sluice::fused
