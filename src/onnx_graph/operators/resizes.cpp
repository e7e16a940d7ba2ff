#include <fmt/format.h>

#include <cmath>

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

Shape resized_shape(NodeContext& context, const Shape& input) {
  std::vector<std::int64_t> sizes;
  const bool is_old = context.opset() < 11 || context.node().type == "Upsample";
  const std::size_t scales_input = is_old ? 1 : 2;
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : context.integers("axes"))
    axes.push_back(context.axis(axis, input.size()));
  if (axes.empty())
    for (std::size_t d = 0; d < input.size(); ++d) axes.push_back(d);
  Shape shape = input;
  if (!is_old && context.has(3)) {
    sizes = context.integers(3);
    if (sizes.size() != axes.size()) context.fail("its sizes do not fit its input");
    for (std::size_t i = 0; i < axes.size(); ++i) shape[axes[i]] = sizes[i];
  } else {
    std::vector<double> scales;
    if (const Attribute* given = context.node().find("scales")) scales = given->floats;
    if (context.has(scales_input)) {
      const auto& constant = context.in(scales_input).constant;
      if (!constant || !constant->reals)
        throw NodeMistake{"its scales are not known before the run", "", true};
      scales = *constant->reals;
    }
    if (scales.size() != axes.size()) context.fail("its scales do not fit its input");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double size = std::floor(static_cast<double>(input[axes[i]]) * scales[i]);
      if (!(size >= 1 && size < 0x1p31)) context.fail("its scales leave no size");
      shape[axes[i]] = static_cast<std::int64_t>(size);
    }
  }
  for (const std::int64_t size : shape)
    if (size < 1) context.fail("a size of its result is below 1");
  return shape;
}

/// Each value repeated: a view. What other modes compute is priced: linear takes two values of each
/// resized dimension, a product and a sum each; cubic four.
void resize(NodeContext& context) {
  const Value input = context.in(0);
  const Shape shape = resized_shape(context, input.shape);
  const std::string mode = context.text("mode", "nearest");
  View view = context.view(0);
  bool is_whole = true;
  double taps = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == input.shape[d]) continue;
    taps *= mode == "cubic" ? 4 : 2;
    if (shape[d] % input.shape[d] == 0) {
      View repeated = view;
      std::vector<Digits> inner(1);
      repeated.dimensions.emplace_back();
      repeat(repeated, repeated.dimensions.size() - 1, shape[d] / input.shape[d]);
      view.n_slots = repeated.n_slots;
      view.dimensions[d].push_back(repeated.dimensions.back()[0]);
      continue;
    }
    is_whole = false;
    if (shape[d] < input.shape[d]) {
      const std::int64_t step = input.shape[d] / shape[d];
      is_whole = input.shape[d] % shape[d] == 0 && is_whole;
      view = context.slice(view, d, 0, step, shape[d], input.type);
    } else {  // more than there are, unevenly: as many reads of the first ones
      view = context.slice(view, d, 0, 1, 1, input.type);
      repeat(view, d, shape[d]);
    }
  }
  const std::string transform = context.text("coordinate_transformation_mode", "half_pixel");
  if (mode == "nearest" && is_whole) return context.set(0, view, input.type, input.is_nonnegative);
  if (mode == "nearest") {
    context.approximate("which neighbour is nearest is left open: one copy for each value");
    return context.set(0,
                       context.pointwise({view}, context.output_name(), input.type,
                                         [](const auto& x) { return x[0]; }),
                       input.type, input.is_nonnegative);
  }
  context.approximate(fmt::format("{} interpolation: {} products and sums a value", mode, taps));
  context.set(0,
              context.pointwise({view}, context.output_name(), input.type,
                                [&](const auto& x) {
                                  Expr sum = x[0] * number(1 / taps);
                                  for (int i = 1; i < static_cast<int>(taps) && i < 64; ++i)
                                    sum = std::move(sum) + x[0] * number(1 / taps);
                                  return sum;
                                }),
              input.type, input.is_nonnegative);
}

}  // namespace

void add_resizes(OperatorTable& table) { table["Resize"] = table["Upsample"] = resize; }

}  // namespace sluice::onnx_graph
