#include "pareto.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "key_hash.h"
#include "parallel.h"
#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace sluice::fused {
namespace {

bool is_new_criterion(const PointSet& points, std::size_t k,
                      std::unordered_multimap<std::uint64_t, std::size_t>& by_hash) {
  const std::size_t n = points.size(), d = points.dimension;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < n; ++i)
    hash = KeyHash::mix(hash ^ std::bit_cast<std::uint64_t>(points.values[i * d + k]));
  const auto [begin, end] = by_hash.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    bool equal = true;
    for (std::size_t i = 0; i < n && equal; ++i)
      equal = points.values[i * d + k] == points.values[i * d + known->second];
    if (equal) return false;
  }
  by_hash.emplace(hash, k);
  return true;
}

/// The criteria in which points differ at all, in the given order; `each_once`: of equal ones the
/// first.
PointSet differing_criteria(const PointSet& points, bool each_once) {
  const std::size_t n = points.size(), d = points.dimension;
  std::vector<std::size_t> taken;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash;
  for (std::size_t k = 0; k < d; ++k) {
    const double first = points.values[k];
    bool differs = false;
    for (std::size_t i = 1; i < n && !differs; ++i) differs = points.values[i * d + k] != first;
    if (differs && (!each_once || is_new_criterion(points, k, by_hash))) taken.push_back(k);
  }
  PointSet result;
  result.dimension = taken.size();
  result.values.reserve(n * taken.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k : taken) result.values.push_back(points.values[i * d + k]);
  return result;
}

constexpr std::size_t kLanes = 8;

/// Bits of the lanes that are at most `bound`.
unsigned at_most(const float* lanes, float bound) {
#ifdef __SSE__
  const __m128 most = _mm_set1_ps(bound);
  const int low = _mm_movemask_ps(_mm_cmple_ps(_mm_loadu_ps(lanes), most));
  const int high = _mm_movemask_ps(_mm_cmple_ps(_mm_loadu_ps(lanes + kLanes / 2), most));
  return static_cast<unsigned>(low | high << kLanes / 2);
#else
  unsigned bits = 0;
  for (std::size_t l = 0; l < kLanes; ++l) bits |= unsigned{lanes[l] <= bound} << l;
  return bits;
#endif
}

/// Rows of criteria rounded to float, which keeps their order, eight rows side by side: asks eight
/// of them at a time which may dominate a point.
class Lanes {
 public:
  explicit Lanes(std::size_t dimension) : dimension_(dimension) {}

  /// Bits of those among the rows [8 block, 8 block + 8) that are at most `point` in each criterion
  /// but the first, in which the caller knows them to be.
  unsigned dominating(std::size_t block, const float* point) const {
    if (block * dimension_ * kLanes >= values_.size()) return 0;
    const float* lanes = values_.data() + block * dimension_ * kLanes;
    unsigned bits = (1U << kLanes) - 1;
    for (std::size_t d = 1; d < dimension_ && bits != 0; ++d)
      bits &= at_most(lanes + d * kLanes, point[d]);
    return bits;
  }

  /// Lowers row `row` to `point`; a new one is the last.
  void lower(std::size_t row, const float* point) {
    const std::size_t block = row / kLanes * dimension_ * kLanes;
    if (block == values_.size())
      values_.resize(block + dimension_ * kLanes, std::numeric_limits<float>::infinity());
    for (std::size_t d = 0; d < dimension_; ++d) {
      float& own = values_[block + d * kLanes + row % kLanes];
      own = std::min(own, point[d]);
    }
  }

 private:
  std::size_t dimension_;
  std::vector<float> values_;
};

/// Non-dominated points found so far, in blocks (of blocks) with the least of each criterion: a
/// block whose least values do not dominate a point holds none that does. Points that dominated
/// lately are asked first: neighbours in the sorted order tend to fall to the same one. No point
/// that is asked about is smaller in the first criterion than one that was added.
class Kept {
 public:
  explicit Kept(std::size_t dimension)
      : dimension_(dimension),
        rounded_(dimension),
        points_(dimension),
        blocks_(dimension),
        blocks_of_blocks_(dimension) {}

  bool dominate(const double* point) {
    for (std::size_t r = 0; r < recent_.size(); ++r) {
      if (!dominates(at(recent_[r]), point, dimension_)) continue;
      std::swap(recent_[r], recent_[r / 2]);
      return true;
    }
    round(point);
    for (std::size_t first = 0; first * kLanes * kLanes * kLanes < n_; ++first)
      for (unsigned outer = blocks_of_blocks_.dominating(first, rounded_.data()); outer != 0;
           outer &= outer - 1) {
        const std::size_t middle = first * kLanes + lowest(outer);
        for (unsigned inner = blocks_.dominating(middle, rounded_.data()); inner != 0;
             inner &= inner - 1)
          if (block_dominates(middle * kLanes + lowest(inner), point)) return true;
      }
    return false;
  }

  void add(const double* point) {
    round(point);
    points_.lower(n_, rounded_.data());
    blocks_.lower(n_ / kLanes, rounded_.data());
    blocks_of_blocks_.lower(n_ / kLanes / kLanes, rounded_.data());
    values_.insert(values_.end(), point, point + dimension_);
    ++n_;
  }

 private:
  static constexpr std::size_t kRecent = 8;

  static std::size_t lowest(unsigned bits) {
    return static_cast<std::size_t>(std::countr_zero(bits));
  }

  bool block_dominates(std::size_t block, const double* point) {
    for (unsigned bits = points_.dominating(block, rounded_.data()); bits != 0; bits &= bits - 1) {
      const std::size_t k = block * kLanes + lowest(bits);
      if (k >= n_ || !dominates(at(k), point, dimension_)) continue;
      remember(k);
      return true;
    }
    return false;
  }

  void round(const double* point) {
    for (std::size_t d = 0; d < dimension_; ++d) rounded_[d] = static_cast<float>(point[d]);
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
  std::vector<double> values_;
  std::vector<float> rounded_;  // the point that is asked about
  Lanes points_, blocks_, blocks_of_blocks_;
  std::vector<std::size_t> recent_;
};

}  // namespace

namespace {

/// Once `cancel` is set, some of it.
std::vector<std::uint32_t> front_of(const PointSet& points, bool each_once,
                                    const std::atomic<bool>* cancel) {
  const std::size_t n = points.size();
  if (n == 0) return {};
  if (n == 1 || is_cancelled(cancel)) return {0};
  const PointSet reduced = differing_criteria(points, each_once);
  const std::size_t d = reduced.dimension;
  if (d == 0) return {0};
  // A point can only be dominated by one that is lexicographically smaller (or equal and earlier).
  struct Item {
    double first;  // criterion
    std::uint32_t point;
  };
  std::vector<Item> order(n);
  for (std::uint32_t i = 0; i < n; ++i) order[i] = {reduced.point(i)[0], i};
  const auto is_before = [&](const Item& a, const Item& b) {
    if (a.first != b.first) return a.first < b.first;
    const double* x = reduced.point(a.point);
    const double* y = reduced.point(b.point);
    for (std::size_t k = 1; k < d; ++k)
      if (x[k] != y[k]) return x[k] < y[k];
    return a.point < b.point;
  };
  if (!sort_unless_cancelled(order.begin(), order.end(), is_before, cancel)) return {0};
  std::vector<std::uint32_t> front;
  Kept kept(d);
  for (const Item& item : order) {
    const double* point = reduced.point(item.point);
    if (is_cancelled(cancel)) break;
    if (kept.dominate(point)) continue;
    kept.add(point);
    front.push_back(item.point);
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace

std::vector<std::uint32_t> pareto_front(const PointSet& points, const std::atomic<bool>* cancel) {
  return front_of(points, false, cancel);
}

std::vector<std::uint32_t> pareto_fronts_by_zeros(const PointSet& points, std::size_t first,
                                                  const std::atomic<bool>* cancel) {
  const std::size_t n = points.size(), d = points.dimension;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> members;  // by zeros
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint64_t hash = 0;
    for (std::size_t k = first; k < d; ++k)
      hash = hash * 0x9E3779B97F4A7C15U + (points.point(i)[k] == 0 ? 1 : 2);
    members[hash].push_back(i);
  }
  std::vector<std::uint32_t> fronts;
  for (const auto& [hash, own] : members) {
    PointSet group{d, {}};
    for (const std::uint32_t i : own)
      group.values.insert(group.values.end(), points.point(i), points.point(i) + d);
    for (const std::uint32_t i : front_of(group, true, cancel)) fronts.push_back(own[i]);
  }
  std::sort(fronts.begin(), fronts.end());
  return fronts;
}

}  // namespace sluice::fused
