#include "front.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sluice::fused {
namespace {

bool uses(const FrontOptions& options, Objective objective) {
  return std::find(options.objectives.begin(), options.objectives.end(), objective) !=
         options.objectives.end();
}

/// Criteria: the objectives in play, then the reservations that differ at all; a figure that is no
/// criterion breaks ties by the order of points.
PointSet criteria(const PointSet& points, const FrontOptions& options) {
  const bool edp = uses(options, Objective::kEdp);
  std::vector<std::size_t> taken;
  if (edp || uses(options, Objective::kEnergy)) taken.push_back(0);
  if (edp || uses(options, Objective::kLatency)) taken.push_back(1);
  for (std::size_t d = 2; d < points.dimension; ++d) {
    if (!options.ignored.empty() && options.ignored[d] != 0) continue;
    bool differs = false;
    for (std::size_t i = 1; i < points.size() && !differs; ++i)
      differs = points.point(i)[d] != points.point(0)[d];
    if (differs) taken.push_back(d);
  }
  PointSet result;
  result.dimension = taken.size();
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t d : taken) result.values.push_back(points.point(i)[d]);
  return result;
}

/// Keeps corners of the lower-left hull only: E·L is quasi-concave, so over any set of completions
/// its minimum is attained at one. A point goes if two others (or one) that
/// need no more of any reservation have it on or above the segment between them. Points: energy,
/// latency, reservations.
class HullFilter {
 public:
  HullFilter(const PointSet& points, const std::vector<std::uint32_t>& candidates)
      : points_(points), order_(candidates) {
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return points_.point(a)[0] < points_.point(b)[0];
    });
  }

  std::vector<std::uint32_t> run() const {
    std::vector<std::uint32_t> kept;
    if (order_.size() <= kComparedWithAll) {
      for (std::uint32_t i : order_)
        if (is_corner(i, order_)) kept.push_back(i);
    } else {
      for (const auto& [reservations, alike] : by_reservations())
        for (std::uint32_t i : alike)
          if (is_corner(i, alike)) kept.push_back(i);
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }

 private:
  /// Above, only points with equal reservations are compared, which costs less and keeps more.
  static constexpr std::size_t kComparedWithAll = 600;

  std::map<std::vector<double>, std::vector<std::uint32_t>> by_reservations() const {
    std::map<std::vector<double>, std::vector<std::uint32_t>> classes;
    for (std::uint32_t i : order_)
      classes[{points_.point(i) + 2, points_.point(i) + points_.dimension}].push_back(i);
    return classes;
  }

  /// Slopes from the point to its left and right helpers: it lies on or above some segment between
  /// them if the steepest descent from the left is not steeper than the one to the right.
  bool is_corner(std::uint32_t i, const std::vector<std::uint32_t>& others) const {
    const double* p = points_.point(i);
    bool left_known = false, right_known = false;
    double left = 0, right = 0;  // latency gained per energy
    for (std::uint32_t j : others) {
      const double* q = points_.point(j);
      if (j == i || !dominates(q + 2, p + 2, points_.dimension - 2)) continue;
      if (q[0] < p[0]) {
        const double slope = (q[1] - p[1]) / (p[0] - q[0]);  // descent from q to p
        if (!left_known || slope < left) left = slope;
        left_known = true;
      } else if (q[0] > p[0]) {
        const double slope = (p[1] - q[1]) / (q[0] - p[0]);  // descent from p to q
        if (!right_known || slope > right) right = slope;
        right_known = true;
      }
    }
    return !left_known || !right_known || left > right * (1 + 1e-12);
  }

  const PointSet& points_;
  std::vector<std::uint32_t> order_;
};

std::vector<std::uint32_t> best_few(const PointSet& points, const FrontOptions& options,
                                    std::vector<std::uint32_t> kept) {
  if (options.beam == 0 || kept.size() <= options.beam) return kept;
  const auto value = [&](std::uint32_t i) {
    const double* p = points.point(i);
    if (uses(options, Objective::kEdp) || options.objectives.size() > 1) return p[0] * p[1];
    return uses(options, Objective::kEnergy) ? p[0] : p[1];
  };
  // Half by objective, half by the smallest reservations, so that something fits later.
  std::vector<std::uint32_t> by_value = kept, by_room = kept;
  const auto room = [&](std::uint32_t i) {
    double sum = 0;
    for (std::size_t d = 2; d < points.dimension; ++d) sum += points.point(i)[d];
    return sum;
  };
  std::stable_sort(by_value.begin(), by_value.end(),
                   [&](auto a, auto b) { return value(a) < value(b); });
  std::stable_sort(by_room.begin(), by_room.end(),
                   [&](auto a, auto b) { return room(a) < room(b); });
  by_value.resize(options.beam - options.beam / 2);
  by_value.insert(by_value.end(), by_room.begin(),
                  by_room.begin() + static_cast<std::ptrdiff_t>(options.beam / 2));
  std::sort(by_value.begin(), by_value.end());
  by_value.erase(std::unique(by_value.begin(), by_value.end()), by_value.end());
  return by_value;
}

}  // namespace

FrontOptions front_options(const MapperOptions& options) {
  FrontOptions front;
  front.objectives = options.objectives;
  front.dominance = options.pruning.dominance;
  front.convex_hull = options.pruning.convex_hull && options.top == 1 && !options.resource_usage;
  return front;
}

std::vector<std::uint32_t> worth_keeping(const PointSet& points, const FrontOptions& options) {
  std::vector<std::uint32_t> kept;
  if (options.dominance) {
    const PointSet reduced = criteria(points, options);
    kept = pareto_front(reduced);
    const bool edp_alone =
        options.objectives.size() == 1 && options.objectives[0] == Objective::kEdp;
    if (options.convex_hull && edp_alone && kept.size() > 2) kept = HullFilter(reduced, kept).run();
  } else {
    kept.resize(points.size());
    std::iota(kept.begin(), kept.end(), 0U);
  }
  return best_few(points, options, std::move(kept));
}

}  // namespace sluice::fused
