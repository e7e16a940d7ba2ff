#include "fanout_use.h"

#include <algorithm>
#include <cstdint>

namespace sluice {
namespace {

/// Sizes of the variables that a spatial loop over the dimension may be over.
std::vector<std::int64_t> spatial_sizes(const BoundEinsum& bound, const Einsum& einsum,
                                        const BoundSpatial& dimension) {
  std::vector<std::int64_t> sizes;
  for (std::size_t v = 0; v < einsum.iteration_space.size(); ++v)
    if (may_spread(bound, dimension, v)) sizes.push_back(einsum.iteration_space[v].size);
  return sizes;
}

/// The largest product up to `limit` of one divisor of each size.
std::int64_t largest_product(const std::vector<std::int64_t>& sizes, std::int64_t limit) {
  std::vector<std::int64_t> products = {1};  // ascending
  for (const std::int64_t size : sizes) {
    std::vector<std::int64_t> next;
    for (std::int64_t divisor = 1; divisor <= std::min(size, limit); ++divisor) {
      if (size % divisor != 0) continue;
      for (const std::int64_t product : products) {
        if (product > limit / divisor) break;
        next.push_back(product * divisor);
      }
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    products = std::move(next);
    if (products.back() == limit) break;
  }
  return products.back();
}

}  // namespace

bool may_spread(const BoundEinsum& bound, const BoundSpatial& dimension, std::size_t variable) {
  if ((dimension.excluded >> variable & 1) != 0) return false;
  for (std::size_t t = 0; t < bound.tensors.size(); ++t)
    if ((dimension.reuse >> t & 1) != 0 && bound.relevance[t][variable] != Relevance::kIrrelevant)
      return false;
  return true;
}

std::vector<double> largest_use_inside(const BoundProblem& problem, EinsumId id,
                                       const BoundCompute& compute, Factors factors) {
  std::vector<double> share(compute.path.size() + 1, 1);
  if (factors == Factors::kAny) return share;
  const BoundEinsum& bound = problem[id];
  for (std::size_t p = compute.path.size(); p-- > 0;) {
    share[p] = share[p + 1];
    for (const BoundSpatial& dimension : bound.components[compute.path[p].index()].spatial) {
      const std::vector<std::int64_t> sizes = spatial_sizes(bound, problem.workload[id], dimension);
      share[p] *= static_cast<double>(largest_product(sizes, dimension.fanout)) /
                  static_cast<double>(dimension.fanout);
    }
  }
  return share;
}

double use_by_perfect_factors(const BoundProblem& problem, EinsumId id,
                              const BoundCompute& compute) {
  const BoundEinsum& bound = problem[id];
  double share = 1;
  for (const ComponentId component : compute.path)
    for (const BoundSpatial& dimension : bound.components[component.index()].spatial) {
      const std::vector<std::int64_t> sizes = spatial_sizes(bound, problem.workload[id], dimension);
      double any = 1;
      for (const std::int64_t size : sizes) any *= static_cast<double>(size);
      share *= static_cast<double>(largest_product(sizes, dimension.fanout)) /
               std::min(any, static_cast<double>(dimension.fanout));
    }
  return share;
}

std::vector<double> widest_spread(const BoundProblem& problem, EinsumId id,
                                  const BoundCompute& compute) {
  const BoundEinsum& bound = problem[id];
  std::vector<double> widest(problem.workload[id].iteration_space.size(), 1);
  for (const ComponentId component : compute.path)
    for (const BoundSpatial& dimension : bound.components[component.index()].spatial)
      for (std::size_t v = 0; v < widest.size(); ++v)
        if (may_spread(bound, dimension, v)) widest[v] *= static_cast<double>(dimension.fanout);
  return widest;
}

}  // namespace sluice
