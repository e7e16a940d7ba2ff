#include "passing_bits.h"

#include <algorithm>

#include "model/bind/index_extent.h"

namespace sluice::chains {

double PassingBits::of(std::size_t e, const std::vector<TensorId>& inner, const Loops& loops,
                       double room) const {
  if (!runs_.outermost()) return 0;
  const fused::EinsumShape& shape = runs_.space().shape(e);
  const BoundEinsum& bound = runs_.space().problem()[EinsumId(e)];
  const std::vector<double>& bits = bound.components[runs_.outermost()->index()].bits_per_value;
  double sum = 0;
  for (std::size_t t = 0; t < shape.tensors.size(); ++t) {
    const fused::LocalTensor& tensor = shape.tensors[t];
    if (std::find(inner.begin(), inner.end(), tensor.id) != inner.end()) continue;
    const auto access =
        std::find_if(bound.accesses.begin(), bound.accesses.end(),
                     [&](const BoundAccess& own) { return own.tensor == static_cast<int>(t); });
    if (access == bound.accesses.end()) continue;
    std::vector<std::int64_t> sizes = shape.sizes;
    const auto tile_bits = [&] {
      return bits[t] * volume_of(*access, [&](int variable) {
               return sizes[static_cast<std::size_t>(variable)];
             });
    };
    // Held above the first loop where it has room; a window slides over the steps right above it.
    double tile = tile_bits(), passing = tile, steps = 1;
    for (const auto& [variable, trips] : loops) {
      if (tile <= room) break;
      const double whole = tile;
      sizes[variable] /= trips;
      tile = tile_bits();
      passing = steps * (tensor.relevance[variable] == Relevance::kPartial
                             ? whole
                             : static_cast<double>(trips) * tile);
      steps *= static_cast<double>(trips);
    }
    sum += passing;
  }
  return sum;
}

double PassingBits::of(std::size_t e, const fused::Compatibility& now, double room) const {
  std::vector<TensorId> inner;
  for (const fused::Backing& backing : now.backings)
    if (backing.component != runs_.outermost())
      inner.push_back(runs_.space().shape(e).tensors[backing.tensor].id);
  Loops loops;
  for (const fused::FusedLoop& loop : now.loops)
    if (!loop.spatial) loops.emplace_back(loop.variable, loop.trips);
  return of(e, inner, loops, room);
}

double PassingBits::of(TensorId tensor) const {
  const TensorRoles& roles = runs_.space().problem().roles;
  if (!runs_.outermost() || !roles.sole_maker(tensor)) return 0;
  return runs_.bits_of(tensor, *runs_.outermost()) *
         static_cast<double>(roles.users(tensor).size());
}

}  // namespace sluice::chains
