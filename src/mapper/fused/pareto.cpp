#include "pareto.h"

#include <algorithm>
#include <numeric>

namespace sluice::fused {
namespace {

/// The criteria in which points differ at all, in the given order.
PointSet differing_criteria(const PointSet& points) {
  const std::size_t n = points.size(), d = points.dimension;
  std::vector<std::size_t> taken;
  for (std::size_t k = 0; k < d; ++k) {
    const double first = points.values[k];
    bool differs = false;
    for (std::size_t i = 1; i < n && !differs; ++i) differs = points.values[i * d + k] != first;
    if (differs) taken.push_back(k);
  }
  PointSet result;
  result.dimension = taken.size();
  result.values.reserve(n * taken.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k : taken) result.values.push_back(points.values[i * d + k]);
  return result;
}

/// Non-dominated points found so far. A point that has just dominated another is asked first next
/// time: neighbours in the sorted order tend to fall to the same one.
class Kept {
 public:
  explicit Kept(std::size_t dimension) : dimension_(dimension) {}

  bool dominate(const double* point) {
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (!dominates(values_.data() + order_[k] * dimension_, point, dimension_)) continue;
      std::swap(order_[k], order_[k / 2]);
      return true;
    }
    return false;
  }

  void add(const double* point) {
    order_.push_back(static_cast<std::uint32_t>(order_.size()));
    values_.insert(values_.end(), point, point + dimension_);
  }

 private:
  std::size_t dimension_;
  std::vector<std::uint32_t> order_;
  std::vector<double> values_;
};

}  // namespace

std::vector<std::uint32_t> pareto_front(const PointSet& points) {
  const std::size_t n = points.size();
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  if (n <= 1) return order;
  const PointSet reduced = differing_criteria(points);
  const std::size_t d = reduced.dimension;
  if (d == 0) return {0};
  // A point can only be dominated by one that is lexicographically smaller (or equal and earlier).
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double* x = reduced.point(a);
    const double* y = reduced.point(b);
    for (std::size_t k = 0; k < d; ++k)
      if (x[k] != y[k]) return x[k] < y[k];
    return a < b;
  });
  std::vector<std::uint32_t> front;
  Kept kept(d);
  for (std::uint32_t i : order) {
    const double* point = reduced.point(i);
    if (kept.dominate(point)) continue;
    kept.add(point);
    front.push_back(i);
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace sluice::fused
