#pragma once

#include <map>
#include <vector>

#include "cost_program.h"
#include "model/tree/nest.h"
#include "model/visits/visit_sum.h"

namespace sluice::fused {

/// A monomial's factor in a class whose windows move an output: no product of trip counts, but what
/// the tiles of the united loops cover (model/visits/first_sights.h).
class SeenFactor {
 public:
  SeenFactor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
             const VariableClass& cls, const Monomial& monomial);

  /// For one state of the class's loops.
  double of(const std::int64_t* trips);

 private:
  std::vector<NestLoop> loops_of(const std::vector<std::int64_t>& trips) const;

  const EinsumShape& shape_;
  const VariableClass& cls_;
  BoundAccess access_;                 ///< the ranks of this class alone
  std::vector<VariableRange> ranges_;  ///< per variable
  std::vector<std::size_t> above_;     ///< the class's loops above the tile
  std::vector<LoopEffect> effects_;    ///< of these
  std::map<std::vector<std::int64_t>, double> known_;
};

}  // namespace sluice::fused
