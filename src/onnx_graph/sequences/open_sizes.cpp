// Operators whose results have as many values as the values that they read say.
#include <fmt/format.h>

#include <algorithm>

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

/// What `--set` or the file says; else the most that there can be, which is said to be a guess.
std::int64_t size_by_values(NodeContext& context, std::size_t dimension, std::int64_t most,
                            const std::string& what) {
  const OpenSize open = context.lowering().open_size(context.output_name(), dimension);
  if (open.size && *open.size > most)
    context.fail(fmt::format("{}={}: there are at most {} {}", open.name, *open.size, most, what));
  if (open.size) return *open.size;
  context.approximate(
      fmt::format("how many {} there are is not known before the run: {} are taken, the most that "
                  "there can be; --set {}=SIZE says another number",
                  what, most, open.name));
  return most;
}

/// Results of these shapes, priced for each value; without values where a size is 0.
void price(NodeContext& context, const std::vector<Shape>& shapes,
           const std::vector<ElementType>& types) {
  context.approximate("one operation of the vector unit for each value");
  if (std::count(shapes[0].begin(), shapes[0].end(), 0) > 0) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      context.set_constant(i, empty_constant(types[i], shapes[i]), {});
    return;
  }
  price_per_element(context, shapes, types);
}

/// The places of the values that are not zero: [rank, n].
void non_zero(NodeContext& context) {
  const Shape shape = context.in(0).shape;
  const std::int64_t n = size_by_values(context, 1, volume(shape), "values other than zero");
  price(context, {{static_cast<std::int64_t>(shape.size()), n}}, {ElementType::kInt64});
}

/// Boxes [B, S, 4], scores [B, C, S]: [k, 3].
void non_max_suppression(NodeContext& context) {
  const Shape boxes = context.in(0).shape, scores = context.in(1).shape;
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    context.fail("its boxes and scores do not fit together");
  std::int64_t each = scores[2];  // of a class
  if (!context.has(2))
    each = 0;  // the default of max_output_boxes_per_class
  else if (const auto known = context.known_integers(2))
    each = std::clamp<std::int64_t>(known->at(0), 0, each);
  const std::int64_t most = volume({scores[0], scores[1], each});
  const std::int64_t k = most == 0 ? 0 : size_by_values(context, 0, most, "boxes that are kept");
  context.approximate("overlaps of pairs of boxes are not priced");
  price(context, {{k, 3}}, {ElementType::kInt64});
}

/// The values, or slices along an axis, whose condition is true.
void compress(NodeContext& context) {
  const Value input = context.in(0);
  const bool has_axis = context.has_attribute("axis");
  const std::size_t axis =
      has_axis ? context.axis(context.integer("axis", 0), input.shape.size()) : 0;
  Shape shape = has_axis ? input.shape : Shape{volume(input.shape)};
  const std::int64_t conditions = volume(context.in(1).shape);
  const auto known = context.known_integers(1);
  shape[axis] = known ? static_cast<std::int64_t>(std::count_if(
                            known->begin(), known->end(), [](auto value) { return value != 0; }))
                      : size_by_values(context, axis, std::min(conditions, shape[axis]),
                                       "conditions that are true");
  price(context, {shape}, {input.type});
}

/// Values, or slices along an axis, each once; where they stand first, which each was, how often.
void unique(NodeContext& context) {
  const Value input = context.in(0);
  const bool has_axis = context.has_attribute("axis");
  const std::size_t axis =
      has_axis ? context.axis(context.integer("axis", 0), input.shape.size()) : 0;
  Shape shape = has_axis ? input.shape : Shape{volume(input.shape)};
  const std::int64_t all = shape[axis];
  const std::int64_t n = size_by_values(context, axis, all, "values that differ");
  shape[axis] = n;
  std::vector<Shape> shapes = {shape, {n}, {all}, {n}};
  shapes.resize(std::min(shapes.size(), context.node().outputs.size()));
  price(context, shapes,
        {input.type, ElementType::kInt64, ElementType::kInt64, ElementType::kInt64});
}

}  // namespace

void add_open_sizes(OperatorTable& table) {
  table["NonZero"] = non_zero;
  table["NonMaxSuppression"] = non_max_suppression;
  table["Compress"] = compress;
  table["Unique"] = unique;
}

}  // namespace sluice::onnx_graph
