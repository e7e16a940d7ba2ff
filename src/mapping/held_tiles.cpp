#include "mapping/held_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mapping/einsums_below.h"

namespace sluice {
namespace {

/// The largest tile of every variable of an Einsum.
using EinsumTiles = std::map<RankVariableId, std::int64_t>;

EinsumTiles tiles_of(const Einsum& einsum, EinsumId id, const LoopTiles& loops) {
  EinsumTiles result;
  for (std::size_t v = 0; v < einsum.iteration_space.size(); ++v)
    result[einsum.iteration_space[v].variable] = loops.tiles(id, v).largest();
  return result;
}

/// Number of indices that an expression takes while every variable walks its tile.
std::int64_t extent(const AffineExpression& expression, const EinsumTiles& tiles) {
  std::int64_t result = 1;
  for (const AffineTerm& term : expression.terms)
    if (const auto tile = tiles.find(term.variable); tile != tiles.end())
      result += std::abs(term.coefficient) * (tile->second - 1);
  return result;
}

bool serves(const StorageNode& node, EinsumId einsum) {
  return node.einsums.empty() ||
         std::find(node.einsums.begin(), node.einsums.end(), einsum) != node.einsums.end();
}

}  // namespace

EinsumsBelow::EinsumsBelow(const NodeList& nodes) : order(einsums_below(nodes)), sorted(order) {
  std::sort(sorted.begin(), sorted.end());
}

bool EinsumsBelow::has(EinsumId einsum) const {
  return std::binary_search(sorted.begin(), sorted.end(), einsum);
}

HeldTiles::HeldTiles(const Workload& workload, BitsPerValue bits_per_value)
    : workload_(workload),
      bits_per_value_(std::move(bits_per_value)),
      users_(users_of_tensors(workload)) {}

std::optional<HeldTile> HeldTiles::held(const StorageNode& node, TensorId tensor,
                                        const EinsumsBelow& below, const LoopTiles& loops) const {
  std::optional<HeldTile> largest;
  for (const EinsumId einsum : users_[tensor.index()]) {
    if (!below.has(einsum) || !serves(node, einsum)) continue;
    const TensorAccess* access = find_access(workload_[einsum], tensor);
    const EinsumTiles tiles = tiles_of(workload_[einsum], einsum, loops);
    HeldTile tile{
        bits_per_value_ ? bits_per_value_(einsum, tensor, node.component) : access->bits_per_value,
        {}};
    for (const AffineExpression& index : access->projection) {
      tile.extents.push_back(extent(index, tiles));
      tile.bits *= static_cast<double>(tile.extents.back());
    }
    if (!largest || tile.bits > largest->bits) largest = std::move(tile);
  }
  return largest;
}

std::string named_extents(const HeldTile& tile, TensorId tensor, const Workload& workload) {
  std::string text;
  for (std::size_t r = 0; r < tile.extents.size(); ++r)
    text += fmt::format("{}{} {}", r == 0 ? "" : ", ", workload[workload[tensor].ranks[r]].name,
                        tile.extents[r]);
  return text;
}

}  // namespace sluice
