#pragma once

#include <vector>

#include "oracle/nest.h"

namespace sluice::oracle {

/// One template: which memory keeps which tensors, and in which order the storage nodes stand.
struct StorageChoice {
  const BoundCompute* compute = nullptr;
  std::vector<NestStorage> top;    ///< persistent backing nodes and the outermost memory's nodes
  std::vector<NestStorage> rest;   ///< the others, outermost first
  std::vector<NestStorage> tolls;  ///< outermost first; their places follow from rest and loops
};

/// Every choice of one Einsum: the subsets of may_keep outermost memory first, then every order in
/// which outer memories come before inner ones. Of more than `most`, some: one more than that at
/// least.
std::vector<StorageChoice> storage_choices(const BoundProblem& problem, EinsumId einsum,
                                           std::size_t most);

}  // namespace sluice::oracle
