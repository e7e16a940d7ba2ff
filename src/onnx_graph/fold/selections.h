#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx_graph/model/graph.h"

namespace sluice::onnx_graph {

/// Values of a tensor of this shape.
std::int64_t count_of(const Shape& shape);

/// Which values of a tensor some operator takes, by their places, and in which shape.
struct Selection {
  Shape shape;
  std::vector<std::size_t> places;
};

/// The values at these places.
Constant picked(const Constant& from, Selection selection);

/// The places of the values that are not zero: [rank, n].
Constant places_of_non_zero(const Constant& data);

// Nothing where shapes, axes or indices do not fit, or there are too many values.

/// What Compress takes; without an axis of all values in a row.
std::optional<Selection> compressed(const Shape& data, const std::vector<std::int64_t>& condition,
                                    std::optional<std::size_t> axis);
/// What GatherElements takes, or where ScatterElements writes.
std::optional<Selection> elements_at(const Shape& data, const Constant& indices, std::size_t axis);
/// What GatherND takes, or where ScatterND writes.
std::optional<Selection> blocks_at(const Shape& data, const Constant& indices, std::size_t batch);

/// The data with updates at these places.
std::optional<Constant> scattered(const Constant& data, const Selection& at,
                                  const Constant& updates);

/// Sums along an axis of what stands before each value, with that value or without.
Constant running_sums(const Constant& data, std::size_t axis, bool is_exclusive, bool is_reverse);

}  // namespace sluice::onnx_graph
