#include "points.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sluice::referee {
namespace {

Range hull(const Range& a, const Range& b) {
  if (a.size == 0) return b;
  if (b.size == 0) return a;
  const std::int64_t begin = std::min(a.begin, b.begin);
  return {begin, std::max(a.end(), b.end()) - begin};
}

bool differ_in_constants_only(const TensorAccess& a, const TensorAccess& b) {
  return std::equal(
      a.projection.begin(), a.projection.end(), b.projection.begin(), b.projection.end(),
      [](const AffineExpression& x, const AffineExpression& y) { return x.terms == y.terms; });
}

}  // namespace

Points united(const Points& a, const Points& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  Points result;
  result.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Points common(const Points& a, const Points& b) {
  Points result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Points without(const Points& a, const Points& b) {
  if (b.empty()) return a;
  Points result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

void TensorReach::include(const std::vector<Range>& ranges) {
  if (ranges_.empty()) {
    ranges_ = ranges;
    return;
  }
  for (std::size_t r = 0; r < ranges.size(); ++r) ranges_[r] = hull(ranges_[r], ranges[r]);
}

Element TensorReach::element(const std::vector<std::int64_t>& indices) const {
  Element element = 0;
  for (std::size_t r = 0; r < indices.size(); ++r)
    element = element * ranges_[r].size + (indices[r] - ranges_[r].begin);
  return element;
}

std::vector<std::int64_t> TensorReach::indices(Element element) const {
  std::vector<std::int64_t> indices(ranges_.size());
  for (std::size_t r = ranges_.size(); r-- > 0;) {
    indices[r] = ranges_[r].begin + element % ranges_[r].size;
    element /= ranges_[r].size;
  }
  return indices;
}

Points TensorReach::box(const std::vector<Range>& ranges) const {
  Points points = {0};
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    Points longer;
    longer.reserve(points.size() * static_cast<std::size_t>(ranges[r].size));
    for (Element prefix : points)
      for (std::int64_t i = ranges[r].begin; i < ranges[r].end(); ++i)
        longer.push_back(prefix * ranges_[r].size + (i - ranges_[r].begin));
    points = std::move(longer);
  }
  return points;
}

std::int64_t TensorReach::volume() const {
  std::int64_t volume = 1;
  for (const Range& range : ranges_) volume *= range.size;
  return volume;
}

Element TensorReach::stride(std::size_t rank) const {
  Element stride = 1;
  for (std::size_t r = rank + 1; r < ranges_.size(); ++r) stride *= ranges_[r].size;
  return stride;
}

Points whole_tensor(const Workload& workload, const PointMap& points, TensorId tensor) {
  std::vector<Range> ranges;
  for (RankId rank : workload[tensor].ranks) ranges.push_back({0, workload[rank].size});
  return points[tensor].box(ranges);
}

std::size_t place_of(const Einsum& einsum, RankVariableId variable) {
  std::size_t place = 0;
  while (einsum.iteration_space[place].variable != variable) ++place;
  return place;
}

Box whole_box(const Einsum& einsum) {
  Box box;
  for (const VariableRange& range : einsum.iteration_space)
    box.push_back({range.minimum, range.size});
  return box;
}

void for_each_point(const Box& box, const std::function<void(const Box&)>& visit) {
  for (const Range& range : box)
    if (range.size == 0) return;
  Box point = box;
  for (Range& range : point) range.size = 1;
  while (true) {
    visit(point);
    std::size_t v = point.size();
    while (v > 0 && point[v - 1].begin + 1 == box[v - 1].end()) {
      point[v - 1].begin = box[v - 1].begin;
      --v;
    }
    if (v == 0) return;
    ++point[v - 1].begin;
  }
}

std::vector<TensorReach> PointMap::reaches(const Workload& workload) {
  std::vector<TensorReach> reaches;
  for (const Tensor& tensor : workload.tensors) {
    std::vector<Range> ranks;
    for (RankId rank : tensor.ranks) ranks.push_back({0, workload[rank].size});
    reaches.emplace_back().include(ranks);
  }
  for (const Einsum& einsum : workload.einsums)
    for (const TensorAccess& access : einsum.accesses)
      reaches[access.tensor.index()].include(ranges(einsum, access, whole_box(einsum)));
  return reaches;
}

PointMap::PointMap(const Workload& workload) : workload_(workload), reach_(reaches(workload)) {
  for (std::size_t t = 0; t < reach_.size(); ++t) {
    std::vector<Range> ranks;
    for (RankId rank : workload.tensors[t].ranks) ranks.push_back({0, workload[rank].size});
    has_padding_.push_back(reach_[t].ranges() != ranks);
    if (!has_padding_.back()) {
      inside_.emplace_back();
      continue;
    }
    inside_.emplace_back(static_cast<std::size_t>(reach_[t].volume()), false);
    for (Element element : reach_[t].box(ranks))
      inside_.back()[static_cast<std::size_t>(element)] = true;
  }
}

std::vector<Range> PointMap::ranges(const Einsum& einsum, const TensorAccess& access,
                                    const Box& box) {
  std::vector<Range> result;
  for (const AffineExpression& index : access.projection) {
    Range range{index.constant, 1};
    for (const AffineTerm& term : index.terms) {
      const Range& of = box[place_of(einsum, term.variable)];
      if (of.size == 0) range.size = 0;
      const std::int64_t first = term.coefficient * of.begin;
      const std::int64_t last = term.coefficient * (of.end() - 1);
      range.begin += std::min(first, last);
      if (range.size > 0) range.size += std::max(first, last) - std::min(first, last);
    }
    result.push_back(range);
  }
  return result;
}

std::vector<IndexBox> PointMap::touched_ranges(const Einsum& einsum, TensorId tensor, bool outputs,
                                               const Box& box) {
  std::vector<IndexBox> touched;
  std::vector<const TensorAccess*> done;
  for (const TensorAccess& access : einsum.accesses) {
    if (access.tensor != tensor || access.is_output != outputs) continue;
    if (std::any_of(done.begin(), done.end(), [&](const TensorAccess* other) {
          return differ_in_constants_only(access, *other);
        }))
      continue;
    done.push_back(&access);
    std::vector<Range> merged = ranges(einsum, access, box);
    for (const TensorAccess& other : einsum.accesses) {
      if (other.tensor != tensor || other.is_output != outputs ||
          !differ_in_constants_only(access, other))
        continue;
      const std::vector<Range> others = ranges(einsum, other, box);
      for (std::size_t r = 0; r < merged.size(); ++r) merged[r] = hull(merged[r], others[r]);
    }
    touched.push_back(std::move(merged));
  }
  return touched;
}

Points PointMap::touched(const Einsum& einsum, TensorId tensor, bool outputs,
                         const Box& box) const {
  return all_of(tensor, touched_ranges(einsum, tensor, outputs, box));
}

Points PointMap::all_of(TensorId tensor, const std::vector<IndexBox>& boxes) const {
  Points points;
  for (const IndexBox& ranges : boxes) {
    Points of_box = reach_[tensor.index()].box(ranges);
    points = points.empty() ? std::move(of_box) : united(points, of_box);
  }
  return points;
}

Element PointMap::at(const Einsum& einsum, const TensorAccess& access, const Box& point) const {
  const std::vector<Range>& reach = reach_[access.tensor.index()].ranges();
  Element element = 0;
  for (std::size_t r = 0; r < reach.size(); ++r) {
    std::int64_t index = access.projection[r].constant;
    for (const AffineTerm& term : access.projection[r].terms)
      index += term.coefficient * point[place_of(einsum, term.variable)].begin;
    element = element * reach[r].size + (index - reach[r].begin);
  }
  return element;
}

LinearElement PointMap::linear(const Einsum& einsum, const TensorAccess& access) const {
  const TensorReach& reach = reach_[access.tensor.index()];
  LinearElement linear{0, std::vector<Element>(einsum.iteration_space.size(), 0)};
  for (std::size_t r = 0; r < reach.ranges().size(); ++r) {
    const AffineExpression& index = access.projection[r];
    linear.constant += (index.constant - reach.ranges()[r].begin) * reach.stride(r);
    for (const AffineTerm& term : index.terms)
      linear.steps[place_of(einsum, term.variable)] += term.coefficient * reach.stride(r);
  }
  return linear;
}

std::int64_t PointMap::count_padding(TensorId tensor, const Points& points) const {
  if (!has_padding(tensor)) return 0;
  return std::count_if(points.begin(), points.end(),
                       [&](Element element) { return !is_inside(tensor, element); });
}

std::string PointMap::name(TensorId tensor, Element element) const {
  return fmt::format("{}[{}]", workload_[tensor].name,
                     fmt::join(reach_[tensor.index()].indices(element), ", "));
}

std::string PointMap::name(TensorId tensor, const Points& points) const {
  if (points.empty()) return workload_[tensor].name;
  std::vector<Range> box;
  for (Element element : points) {
    const std::vector<std::int64_t> indices = reach_[tensor.index()].indices(element);
    box.resize(indices.size());
    for (std::size_t r = 0; r < indices.size(); ++r) box[r] = hull(box[r], {indices[r], 1});
  }
  std::vector<std::string> texts;
  for (const Range& range : box)
    texts.push_back(range.size == 1 ? std::to_string(range.begin)
                                    : fmt::format("{}..{}", range.begin, range.end() - 1));
  return fmt::format("{}[{}]", workload_[tensor].name, fmt::join(texts, ", "));
}

}  // namespace sluice::referee
