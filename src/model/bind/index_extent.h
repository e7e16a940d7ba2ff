#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "sluice/model/binding.h"

namespace sluice {

/// Indices of one rank, both ends included.
struct IndexRange {
  std::int64_t low = 0, high = 0;
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// How many indices a rank's index spans while each variable v walks `size_of(v)` values.
template <class SizeOf>
std::int64_t extent_of(const BoundIndex& index, const SizeOf& size_of) {
  std::int64_t extent = 1 + index.slack;
  for (const BoundTerm& term : index.terms)
    extent += std::abs(term.coefficient) * (size_of(term.variable) - 1);
  return extent;
}

/// Values of the tile that an access touches while each variable v walks `size_of(v)` values.
template <class SizeOf>
double volume_of(const BoundAccess& access, const SizeOf& size_of) {
  double values = 1;
  for (const BoundIndex& index : access.index)
    values *= static_cast<double>(extent_of(index, size_of));
  return values;
}

/// Those values of a term that lie furthest apart, of a tile with an `offset` and a `size`.
template <class Tile>
IndexRange range_of(const BoundTerm& term, const Tile& tile) {
  const std::int64_t first = term.coefficient * tile.offset;
  const std::int64_t last = term.coefficient * (tile.offset + tile.size - 1);
  return {std::min(first, last), std::max(first, last)};
}

/// The indices that a rank's index spans while each variable v walks the tile `tile_of(v)`.
template <class TileOf>
IndexRange range_of(const BoundIndex& index, const TileOf& tile_of) {
  IndexRange range{index.constant, index.constant + index.slack};
  for (const BoundTerm& term : index.terms) {
    const IndexRange moved = range_of(term, tile_of(term.variable));
    range.low += moved.low;
    range.high += moved.high;
  }
  return range;
}

}  // namespace sluice
