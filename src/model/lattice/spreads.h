#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

/// Per variable of an Einsum.
using Factors64 = std::vector<std::int64_t>;

double product_of(const Factors64& factors);

/// Spatial dimensions between two memories on the way to a compute (the last ones: between the
/// innermost memory and the compute) that multicast or reduce the same tensors.
struct SpatialGap {
  std::size_t memory = 0;  ///< that they lie directly outside of: a place among the memories
  TensorMask may_reuse = 0;
  double fanout = 1;
  std::vector<std::pair<ComponentId, std::uint32_t>> dimensions;
};

/// Factors of the spatial loops in one gap.
struct GapFactors {
  Factors64 all;
  std::vector<Factors64> by_dimension;
  std::size_t kind = 0;  ///< those of one kind lead to the same bounds
};

/// How the points of an Einsum are spread over the instances of a compute; or all ways whose
/// outermost gaps have the same factors: a group.
struct Spread {
  Factors64 all;                        ///< of the gaps that are known
  std::vector<const GapFactors*> gaps;  ///< of the outermost ones; of all, but in a group
  double lanes = 1;                     ///< of a group: at most
};

/// All ways, with perfect factors; in groups, where there are too many.
class Spreads {
 public:
  /// `most`: ways in one list.
  Spreads(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
          const std::vector<std::size_t>& memories, std::size_t most);
  Spreads(const Spreads&) = delete;  // spreads point to factors
  Spreads& operator=(const Spreads&) = delete;

  const std::vector<SpatialGap>& gaps() const { return gaps_; }
  /// Per gap: what its spatial loops may come to. Empty: there are too many.
  const std::vector<std::vector<GapFactors>>& factors() const { return factors_; }
  /// Of each gap's factors those are of one kind for which `key` says the same.
  void set_kinds(const std::function<std::vector<double>(const Factors64&)>& key);
  /// The same for spreads whose factors are of the same kinds in all gaps that are known.
  std::size_t kind_of(const Spread& spread) const;
  /// They stay where they are when more are added.
  const std::deque<Spread>& all() const { return all_; }
  bool is_group(const Spread& spread) const { return spread.gaps.size() < gaps_.size(); }
  /// Adds the parts of a group, each with one gap more.
  void split(std::size_t group);
  /// Of the loops in a gap together, at most.
  double most_lanes(std::size_t gap) const { return most_lanes_[gap]; }
  bool equals(const Spreads& other) const;

 private:
  void find_gaps(const BoundEinsum& bound, const BoundCompute& compute,
                 const std::vector<std::size_t>& memories);
  void combine(std::size_t n_gaps, Spread* spread);
  void add(const Spread& spread);

  Factors64 sizes_;
  std::vector<SpatialGap> gaps_;
  std::vector<std::vector<GapFactors>> factors_;
  std::vector<double> most_lanes_;
  std::vector<std::size_t> n_kinds_;  // per gap
  std::deque<Spread> all_;
};

}  // namespace sluice
