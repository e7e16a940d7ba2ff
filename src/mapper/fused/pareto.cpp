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

/// Non-dominated points found so far, in blocks (of blocks) with the least of each criterion: a
/// block whose least values do not dominate a point holds none that does. Points that dominated
/// lately are asked first: neighbours in the sorted order tend to fall to the same one.
class Kept {
 public:
  explicit Kept(std::size_t dimension) : dimension_(dimension) {}

  bool dominate(const double* point) {
    for (std::size_t r = 0; r < recent_.size(); ++r) {
      if (!dominates(at(recent_[r]), point, dimension_)) continue;
      std::swap(recent_[r], recent_[r / 2]);
      return true;
    }
    for (std::size_t first = 0; first < n_; first += kBlock * kBlock) {
      if (!dominates(all_least_.data() + first / kBlock / kBlock * dimension_, point, dimension_))
        continue;
      const std::size_t end = std::min(n_, first + kBlock * kBlock);
      for (std::size_t block = first; block < end; block += kBlock)
        if (dominates(least_.data() + block / kBlock * dimension_, point, dimension_) &&
            block_dominates(block, point))
          return true;
    }
    return false;
  }

  void add(const double* point) {
    lower(n_ / kBlock, n_ % kBlock == 0, point, &least_);
    lower(n_ / kBlock / kBlock, n_ % (kBlock * kBlock) == 0, point, &all_least_);
    values_.insert(values_.end(), point, point + dimension_);
    ++n_;
  }

 private:
  static constexpr std::size_t kBlock = 8, kRecent = 8;

  bool block_dominates(std::size_t first, const double* point) {
    const std::size_t last = std::min(n_, first + kBlock);
    for (std::size_t k = first; k < last; ++k) {
      if (!dominates(at(k), point, dimension_)) continue;
      remember(k);
      return true;
    }
    return false;
  }

  void lower(std::size_t block, bool is_new, const double* point, std::vector<double>* least) {
    if (is_new) {
      least->insert(least->end(), point, point + dimension_);
      return;
    }
    double* own = least->data() + block * dimension_;
    for (std::size_t d = 0; d < dimension_; ++d) own[d] = std::min(own[d], point[d]);
  }

  const double* at(std::size_t k) const { return values_.data() + k * dimension_; }

  void remember(std::size_t k) {
    if (recent_.size() < kRecent)
      recent_.push_back(k);
    else
      recent_.back() = k;
    std::swap(recent_.back(), recent_[recent_.size() / 2]);
  }

  std::size_t dimension_, n_ = 0;
  std::vector<double> values_, least_, all_least_;  // points, blocks, blocks of blocks
  std::vector<std::size_t> recent_;
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
