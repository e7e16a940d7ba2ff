#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/enumerate.h"
#include "oracle/nest.h"

namespace sluice::oracle {

struct NestList {
  bool exceeded = false;
  std::vector<Pmapping> nests;  ///< distinct; not priced
};

/// Every legal nest of one Einsum, capacities aside: compute × keep choice × order of the storage
/// nodes × loops in every gap × perfect factors.
NestList enumerate_nests(const BoundProblem& problem, const MapperOptions& options, EinsumId einsum,
                         const EnumerationLimits& limits);

}  // namespace sluice::oracle
