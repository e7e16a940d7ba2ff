#include "onnx_graph/operators/scaling.h"

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/joins.h"
#include "sluice/support/checked.h"

namespace sluice::onnx_graph {

Parameter parameter(NodeContext& context, std::size_t input, double otherwise, std::size_t rank,
                    std::size_t dimension) {
  if (!context.has(input)) return {otherwise, std::nullopt};
  if (const auto known = context.scalar(input)) return {*known, std::nullopt};
  View view = context.uncounted_view(input);
  if (view.dimensions.size() == 1 && volume(context.in(input).shape) == 1) view.dimensions.clear();
  if (view.dimensions.size() == 1)
    while (dimension + view.dimensions.size() < rank) view.dimensions.emplace_back();
  return {std::nullopt, std::move(view)};
}

Parameter bias_of(NodeContext& context, std::size_t input, std::size_t rank,
                  std::size_t dimension) {
  View view = context.view(input);
  while (dimension + view.dimensions.size() < rank) view.dimensions.emplace_back();
  return {std::nullopt, std::move(view)};
}

std::size_t Reads::add(const Parameter& parameter) {
  parameters_.push_back(parameter);
  if (parameter.view) views_.push_back(*parameter.view);
  return parameters_.size() - 1;
}

Expr Reads::get(const std::vector<Expr>& reads, std::size_t parameter, std::size_t n_first) const {
  if (parameters_[parameter].value) return number(*parameters_[parameter].value);
  std::size_t at = n_first;
  for (std::size_t i = 0; i < parameter; ++i) at += parameters_[i].view ? 1 : 0;
  return reads[at];
}

namespace {

Expr saturated(Expr x, ElementType type) {
  if (!is_integer(type) || bits_of(type) > 32) return x;
  return clipped(std::move(x), lowest(type), highest(type));
}

}  // namespace

Expr quantised(const Expr& x, Expr scale, Expr zero, ElementType type) {
  Expr value = scale.kind == Expr::Kind::kConstant && scale.value != 0 ? x * number(1 / scale.value)
                                                                       : x / std::move(scale);
  if (is_integer(type)) value = rounded(std::move(value));
  const bool has_zero = zero.kind != Expr::Kind::kConstant || zero.value != 0;
  if (has_zero) value = std::move(value) + std::move(zero);
  return saturated(std::move(value), type);
}

Expr dequantised(const Expr& x, Expr scale, Expr zero) {
  const bool has_zero = zero.kind != Expr::Kind::kConstant || zero.value != 0;
  return (has_zero ? x - std::move(zero) : x) * std::move(scale);
}

std::size_t channel_axis(NodeContext& context, std::size_t rank) {
  const std::int64_t axis = context.integer("axis", 1);
  const std::int64_t n = static_cast<std::int64_t>(rank);
  return axis >= -n && axis < n ? context.axis(axis, rank) : 0;
}

View by_blocks(NodeContext& context, ElementType type, const ByScale& function) {
  const Shape shape = context.in(0).shape;
  const std::size_t axis = channel_axis(context, shape.size());
  const std::int64_t block = context.integer("block_size", 0);
  Shape scales = shape;
  if (axis < shape.size() && block > 0) scales[axis] = ceil_divide(shape[axis], block);
  if (axis >= shape.size() || block < 1 || context.in(1).shape != scales ||
      (context.has(2) && context.in(2).shape != scales))
    context.fail("its scales do not fit its blocks");
  const std::string name = context.output_name();
  const auto part = [&](std::int64_t first, std::int64_t n_blocks, std::int64_t size) {
    View x = context.slice(context.view(0), axis, first * block, 1, n_blocks * size,
                           ElementType::kUndefined);
    Shape own = shape_of(x), split = own;
    split[axis] = n_blocks;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, size);
    std::vector<View> views = {context.reshape(x, split, ElementType::kUndefined)};
    for (std::size_t input = 1; input < 3 && context.has(input); ++input) {
      View view = context.slice(context.uncounted_view(input), axis, first, 1, n_blocks,
                                ElementType::kUndefined);
      view.dimensions.insert(view.dimensions.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                             Digits{});
      views.push_back(std::move(view));
    }
    const View made = context.pointwise(views, name, type, [&](const auto& v) {
      return function(v[0], v[1], v.size() > 2 ? v[2] : number(0));
    });
    return context.reshape(made, own, type);
  };
  const std::int64_t whole = shape[axis] / block, rest = shape[axis] % block;
  if (rest == 0) return part(0, whole, block);
  if (whole == 0) return part(0, 1, rest);
  return join(context, {part(0, whole, block), part(whole, 1, rest)}, axis, type);
}

View dequantise(NodeContext& context) {
  if (context.integer("block_size", 0) != 0)
    return by_blocks(context, context.in(1).type, [](const Expr& x, Expr scale, Expr zero) {
      return dequantised(x, std::move(scale), std::move(zero));
    });
  const std::size_t rank = context.in(0).shape.size(), axis = channel_axis(context, rank);
  Reads reads({context.view(0)});
  const std::size_t scale = reads.add(parameter(context, 1, 1, rank, axis));
  const std::size_t zero = reads.add(parameter(context, 2, 0, rank, axis));
  return context.pointwise(
      reads.views(), context.output_name(), context.in(1).type, [&](const auto& x) {
        return dequantised(x[0], reads.get(x, scale, 1), reads.get(x, zero, 1));
      });
}

namespace {

/// Weights without zero points, one for all or one a channel; without numbers where some are not
/// in the file.
Constant centred_weights(const Constant& weights, const Constant& zeros, std::size_t dimension) {
  Constant result = weights;
  const auto n = static_cast<std::size_t>(volume(zeros.shape));
  std::size_t inner = 1;
  for (std::size_t d = dimension + 1; d < weights.shape.size(); ++d)
    inner *= static_cast<std::size_t>(weights.shape[d]);
  const bool fits = n == 1 || (dimension < weights.shape.size() &&
                               weights.shape[dimension] == static_cast<std::int64_t>(n));
  if (!fits || !zeros.has_numbers() || !weights.integers) {
    result.integers.reset();
    return result;
  }
  for (std::size_t i = 0; i < result.integers->size(); ++i)
    (*result.integers)[i] -= static_cast<std::int64_t>(zeros.number(n == 1 ? 0 : i / inner % n));
  return result;
}

bool is_zero(const Constant& constant) {
  if (!constant.has_numbers()) return constant.uniform == 0.0;
  for (std::int64_t i = 0; i < volume(constant.shape); ++i)
    if (constant.number(static_cast<std::size_t>(i)) != 0) return false;
  return true;
}

}  // namespace

View centred(NodeContext& context, std::size_t input, std::size_t zero_input, std::size_t dimension,
             const std::string& name) {
  if (!context.has(zero_input)) return context.view(input);
  const Value value = context.in(input);
  const auto zeros = context.in(zero_input).constant;
  if (zeros && is_zero(*zeros)) return context.view(input);
  if (value.constant)  // weights are centred before the run
    return context.table(name,
                         centred_weights(*value.constant, zeros ? *zeros : Constant(), dimension),
                         value.sources);
  Reads reads({context.view(input)});
  const std::size_t z = reads.add(parameter(context, zero_input, 0, value.shape.size(), dimension));
  return context.pointwise(reads.views(), name, value.type,
                           [&](const auto& x) { return x[0] - reads.get(x, z, 1); });
}

}  // namespace sluice::onnx_graph
