#include "passing_bits.h"

#include <algorithm>
#include <variant>

#include "model/bind/index_extent.h"
#include "model/bind/operand_costs.h"

namespace sluice::chains {

PassingBits::PassingBits(const Runs& runs) : runs_(runs) {
  const BoundProblem& problem = runs.space().problem();
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const BoundEinsum& bound = problem[EinsumId(e)];
    std::vector<std::vector<ComponentId>>& holders = holders_.emplace_back(bound.tensors.size());
    for (const ComponentId id : bound.computes.front().path)
      for (std::size_t t = 0; t < bound.tensors.size(); ++t)
        if (problem.arch[id].is_memory() && id != runs.outermost() &&
            bound.components[id.index()].enabled &&
            hold_of(problem, EinsumId(e), id, bound.tensors[t]).may)
          holders[t].push_back(id);
  }
}

double PassingBits::room(std::size_t e, std::size_t t, const std::optional<Inside>& inside) const {
  const BoundEinsum& bound = runs_.space().problem()[EinsumId(e)];
  double most = 0;
  for (const ComponentId id : bound.computes.front().path) {
    const std::vector<ComponentId>& holders = holders_[e][t];
    const bool is_inside = inside && inside->memory == id;
    if (std::find(holders.begin(), holders.end(), id) != holders.end())
      most = std::max(most, is_inside ? inside->left_bits : bound.components[id.index()].size_bits);
    if (is_inside) break;
  }
  return most;
}

double PassingBits::of(std::size_t e, const std::vector<TensorId>& inner, const Loops& loops,
                       const std::optional<Inside>& inside) const {
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
    const double room = loops.empty() ? 0 : this->room(e, t, inside);
    double tile = tile_bits(), passing = tile, steps = 1;
    for (const auto& [variable, trips] : loops) {
      if (tile <= room) break;
      const double whole = tile;
      sizes[variable] /= trips;
      tile = tile_bits();
      passing = steps * (tensor.relevance[variable] == Relevance::kPartial && room > 0
                             ? whole
                             : static_cast<double>(trips) * tile);
      steps *= static_cast<double>(trips);
    }
    sum += passing;
  }
  return sum;
}

double PassingBits::of(std::size_t e, const ChainSteps& exchanged,
                       const std::optional<Inside>& inside) const {
  std::vector<TensorId> inner;
  Loops loops;
  for (const auto& step : exchanged) {
    if (const auto* node = std::get_if<ChainNode>(&step))
      inner.push_back(node->tensor);
    else if (const auto& loop = std::get<ChainLoop>(step); !loop.spatial)
      loops.emplace_back(loop.variable, loop.trips);
  }
  return of(e, inner, loops, inside);
}

double PassingBits::of(std::size_t e, const fused::Compatibility& now) const {
  const BoundEinsum& bound = runs_.space().problem()[EinsumId(e)];
  std::vector<TensorId> inner;
  std::optional<Inside> inside;
  for (const fused::Backing& backing : now.backings) {
    if (backing.component == runs_.outermost()) continue;
    inner.push_back(runs_.space().shape(e).tensors[backing.tensor].id);
    if (backing.level == 0) continue;
    if (!inside || inside->memory != backing.component)
      inside = {backing.component, bound.components[backing.component.index()].size_bits};
    inside->left_bits -= backing.bits;
  }
  Loops loops;
  for (const fused::FusedLoop& loop : now.loops)
    if (!loop.spatial) loops.emplace_back(loop.variable, loop.trips);
  return of(e, inner, loops, inside);
}

double PassingBits::of(TensorId tensor) const {
  const TensorRoles& roles = runs_.space().problem().roles;
  if (!runs_.outermost() || !roles.sole_maker(tensor)) return 0;
  return runs_.bits_of(tensor, *runs_.outermost()) *
         static_cast<double>(roles.users(tensor).size());
}

}  // namespace sluice::chains
