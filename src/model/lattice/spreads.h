#pragma once

#include <cstdint>
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
};

/// How the points of an Einsum are spread over the instances of a compute.
struct Spread {
  Factors64 all;
  std::vector<const GapFactors*> gaps;  ///< per gap; empty: pooled, wherever each factor is
  double lanes = 1;
};

/// All ways, with perfect factors. Where there are too many, pooled; if even those are too many,
/// none.
class Spreads {
 public:
  Spreads(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
          const std::vector<std::size_t>& memories);

  const std::vector<SpatialGap>& gaps() const { return gaps_; }
  const std::vector<Spread>& all() const { return all_; }

 private:
  static constexpr std::size_t kMost = 20'000;
  void find_gaps();
  void find_factors();
  void combine(std::size_t gap, Spread* spread);
  void pool();

  const BoundProblem& problem_;
  EinsumId id_;
  const BoundCompute& compute_;
  const std::vector<std::size_t>& memories_;
  Factors64 sizes_;
  std::vector<SpatialGap> gaps_;
  std::vector<std::vector<GapFactors>> factors_;  // per gap
  std::vector<Spread> all_;
};

}  // namespace sluice
