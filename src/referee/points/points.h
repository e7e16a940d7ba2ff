#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice::referee {

/// begin <= index < begin + size
struct Range {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::int64_t end() const { return begin + size; }
  friend auto operator<=>(const Range&, const Range&) = default;
};

/// A range per variable of one Einsum's iteration space, in its order.
using Box = std::vector<Range>;

/// A range per rank of a tensor.
using IndexBox = std::vector<Range>;

/// One value of a tensor: its indices as one number, row-major over everything that can be reached.
using Element = std::int64_t;
/// Ascending, without repetition.
using Points = std::vector<Element>;

Points united(const Points& a, const Points& b);
Points common(const Points& a, const Points& b);
Points without(const Points& a, const Points& b);

/// The element of one access as a sum over the variables of an iteration space.
struct LinearElement {
  Element constant = 0;
  std::vector<Element> steps;  ///< per variable: how far one step of it goes
  Element at(const Box& point) const {
    Element element = constant;
    for (std::size_t v = 0; v < steps.size(); ++v) element += steps[v] * point[v].begin;
    return element;
  }
};

/// All indices of a tensor that any access can reach, padding included.
class TensorReach {
 public:
  void include(const std::vector<Range>& ranges);
  Element element(const std::vector<std::int64_t>& indices) const;
  std::vector<std::int64_t> indices(Element element) const;
  /// Every element of a box of indices.
  Points box(const std::vector<Range>& ranges) const;
  std::int64_t volume() const;
  /// How far apart neighbours along a rank are.
  Element stride(std::size_t rank) const;
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

/// Which elements iteration boxes touch.
class PointMap {
 public:
  explicit PointMap(const Workload& workload);

  /// What the accesses to each tensor can reach.
  static std::vector<TensorReach> reaches(const Workload& workload);

  /// Index ranges of one access over a box, one per rank.
  static std::vector<Range> ranges(const Einsum& einsum, const TensorAccess& access,
                                   const Box& box);
  /// What an Einsum reads (`outputs` false) or writes of a tensor in a box, as index ranges.
  /// Accesses that differ in constants only touch the whole range between them.
  static std::vector<IndexBox> touched_ranges(const Einsum& einsum, TensorId tensor, bool outputs,
                                              const Box& box);
  /// The same as points.
  Points touched(const Einsum& einsum, TensorId tensor, bool outputs, const Box& box) const;
  /// The elements of such ranges.
  Points all_of(TensorId tensor, const std::vector<IndexBox>& boxes) const;
  /// The element of one access at one iteration point.
  Element at(const Einsum& einsum, const TensorAccess& access, const Box& point) const;
  /// The same for all points.
  LinearElement linear(const Einsum& einsum, const TensorAccess& access) const;

  const TensorReach& operator[](TensorId tensor) const { return reach_[tensor.index()]; }
  /// Whether an element lies inside all ranks of its tensor; the others are padding.
  bool is_inside(TensorId tensor, Element element) const {
    return !has_padding_[tensor.index()] ||
           inside_[tensor.index()][static_cast<std::size_t>(element)];
  }
  /// Whether any element that can be reached is padding.
  bool has_padding(TensorId tensor) const { return has_padding_[tensor.index()]; }
  std::int64_t count_padding(TensorId tensor, const Points& points) const;
  /// `K[0, 2]`
  std::string name(TensorId tensor, Element element) const;
  /// `K[0, 2..3]`: the smallest box around points; the tensor's name alone without points.
  std::string name(TensorId tensor, const Points& points) const;

 private:
  const Workload& workload_;
  std::vector<TensorReach> reach_;
  std::vector<std::vector<bool>> inside_;
  std::vector<bool> has_padding_;
};

/// Every element inside all ranks of a tensor, row-major.
Points whole_tensor(const Workload& workload, const PointMap& points, TensorId tensor);

/// Place of a variable in an Einsum's iteration space.
std::size_t place_of(const Einsum& einsum, RankVariableId variable);
/// The whole iteration space of an Einsum.
Box whole_box(const Einsum& einsum);
/// Every point of a box (ranges of one), the last variable fastest.
void for_each_point(const Box& box, const std::function<void(const Box&)>& visit);

}  // namespace sluice::referee
