#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/workload/affine.h"

namespace sluice {

/// Bounds of one variable while they are being tightened.
struct Interval {
  std::optional<std::int64_t> low, high;  ///< both ends belong to it
  bool is_bounded() const { return low && high; }
  bool is_empty() const { return is_bounded() && *low > *high; }
};

/// The intervals of one Einsum's variables.
class Box {
 public:
  void add(RankVariableId variable) { intervals_.emplace_back(variable, Interval{}); }
  /// The variable must have been added.
  Interval& operator[](RankVariableId variable);
  const Interval& operator[](RankVariableId variable) const;

 private:
  std::vector<std::pair<RankVariableId, Interval>> intervals_;
};

/// Smallest and largest value of an index expression over a box; nothing where a variable is
/// unbounded.
struct IndexExtent {
  std::int64_t low = 0, high = 0;
};
std::optional<IndexExtent> extent_of(const AffineExpression& index, const Box& box);

/// Tightens the box until every variable has the smallest box that the constraints
/// (each expression >= 0) imply one by one. Returns a variable that is left without a value, if
/// any.
std::optional<RankVariableId> tighten(const std::vector<AffineExpression>& constraints, Box& box);

}  // namespace sluice
