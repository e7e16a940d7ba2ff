#include <fmt/format.h>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/convolution.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/products.h"
#include "onnx_graph/operators/scaling.h"

namespace sluice::onnx_graph {
namespace {

ElementType type_of_zero(NodeContext& context, std::size_t input) {
  return context.has(input) ? context.in(input).type : ElementType::kUint8;
}

void quantize_linear(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t rank = input.shape.size(), axis = channel_axis(context, rank);
  ElementType type = type_of_zero(context, 2);
  if (!context.has(2) && context.integer("output_dtype", 0) != 0)
    type = static_cast<ElementType>(context.integer("output_dtype", 0));
  if (context.integer("block_size", 0) != 0)
    return context.set(0,
                       by_blocks(context, type,
                                 [&](const Expr& x, Expr s, Expr z) {
                                   return quantised(x, std::move(s), std::move(z), type);
                                 }),
                       type, lowest(type) >= 0);
  Reads reads({context.view(0)});
  const std::size_t scale = reads.add(parameter(context, 1, 1, rank, axis));
  const std::size_t zero = reads.add(parameter(context, 2, 0, rank, axis));
  context.set(0,
              context.pointwise(reads.views(), context.output_name(), type,
                                [&](const auto& x) {
                                  return quantised(x[0], reads.get(x, scale, 1),
                                                   reads.get(x, zero, 1), type);
                                }),
              type, lowest(type) >= 0);
}

/// Nothing is written before somebody reads real numbers: products take the integers.
void dequantize_linear(NodeContext& context) {
  const Value input = context.in(0);
  const Node& node = context.node();
  Value value;
  value.type = context.in(1).type;
  value.shape = input.shape;
  value.is_nonnegative =
      input.is_nonnegative && context.scalar(2).value_or(context.has(2) ? 1 : 0) == 0;
  if (context.integer("block_size", 0) == 0)  // scales of blocks come out of no sum
    value.dequantised = {node.inputs[0], node.inputs[1], context.has(2) ? node.inputs[2] : "",
                         channel_axis(context, input.shape.size())};
  value.make_view = [node, record = context.record()](Lowering& lowering) {
    NodeContext own(lowering, node, record);
    return dequantise(own);
  };
  context.lowering().values[node.outputs.at(0)] = std::move(value);
}

/// Scale and zero of 8 bits from the data's range.
void dynamic_quantize_linear(NodeContext& context) {
  const Value input = context.in(0);
  std::set<std::size_t> all;
  for (std::size_t d = 0; d < input.shape.size(); ++d) all.insert(d);
  const std::string name = context.output_name();
  const View x = context.view(0);
  const auto same = [](const auto& v) { return v[0]; };
  const auto scalar = [](View view) {
    view.dimensions.clear();
    return view;
  };
  const View high =
      scalar(context.reduced({x}, all, Reducing::kMax, name + "_max", input.type, same));
  const View low =
      scalar(context.reduced({x}, all, Reducing::kMin, name + "_min", input.type, same));
  const View scale =
      context.pointwise({high, low}, context.output_name(1), input.type, [](const auto& v) {
        return (maximum(v[0], number(0)) - minimum(v[1], number(0))) * number(1.0 / 255);
      });
  const View zero = context.pointwise(
      {low, scale}, context.output_name(2), ElementType::kUint8, [](const auto& v) {
        return clipped(rounded((number(0) - minimum(v[0], number(0))) / v[1]), 0, 255);
      });
  context.set(
      0,
      context.pointwise({x, scale, zero}, name, ElementType::kUint8,
                        [](const auto& v) { return clipped(rounded(v[0] / v[1]) + v[2], 0, 255); }),
      ElementType::kUint8, true);
  context.set(1, scale, input.type, true);
  context.set(2, zero, ElementType::kUint8, true);
}

/// quantise(sum · (scale of a · scale of b) + bias): what follows an integer product.
struct Rescale {
  std::size_t scale_a = 0, scale_b = 0, scale_y = 0, zero_y = 0;
  std::optional<std::size_t> bias;
  std::size_t dimension = 1;  ///< of the result, that scales of channels belong to
};

void rescale(NodeContext& context, const View& sums, const Rescale& how) {
  const std::size_t rank = sums.dimensions.size();
  const ElementType type = context.in(how.zero_y).type;
  Reads reads({sums});
  const std::size_t a = reads.add(parameter(context, how.scale_a, 1, rank, how.dimension));
  const std::size_t b = reads.add(parameter(context, how.scale_b, 1, rank, how.dimension));
  const std::size_t y = reads.add(parameter(context, how.scale_y, 1, rank, how.dimension));
  const std::size_t zero = reads.add(parameter(context, how.zero_y, 0, rank, how.dimension));
  std::optional<std::size_t> bias;
  if (how.bias && context.has(*how.bias))
    bias = reads.add(bias_of(context, *how.bias, rank, how.dimension));
  context.set(0,
              context.pointwise(
                  reads.views(), context.output_name(), type,
                  [&](const auto& x) {
                    Expr sum = bias ? x[0] + reads.get(x, *bias, 1) : x[0];
                    const Expr factor = reads.get(x, a, 1) * reads.get(x, b, 1);
                    const Expr out = reads.get(x, y, 1);
                    if (factor.kind == Expr::Kind::kConstant && out.kind == Expr::Kind::kConstant &&
                        out.value != 0)
                      return quantised(std::move(sum) * number(factor.value / out.value), number(1),
                                       reads.get(x, zero, 1), type);
                    return quantised(std::move(sum) * factor, out, reads.get(x, zero, 1), type);
                  }),
              type, lowest(type) >= 0);
}

void qlinear_conv(NodeContext& context) {
  const std::string name = context.output_name();
  const View x = centred(context, 0, 2, 1, name + "_x"), w = centred(context, 3, 5, 0, name + "_w");
  const View sums = convolve(context, x, w, name + "_product", ElementType::kInt32);
  rescale(context, sums, {1, 4, 6, 7, 8, 1});
}

void conv_integer(NodeContext& context) {
  const std::string name = context.output_name();
  const View x = centred(context, 0, 2, 1, name + "_x"), w = centred(context, 1, 3, 0, name + "_w");
  context.set(0, convolve(context, x, w, name, ElementType::kInt32), ElementType::kInt32);
}

void qlinear_mat_mul(NodeContext& context) {
  const std::string name = context.output_name();
  const std::size_t rank_a = context.in(0).shape.size(), rank_b = context.in(3).shape.size();
  const View a = centred(context, 0, 2, rank_a < 2 ? 0 : rank_a - 2, name + "_a");
  const View b = centred(context, 3, 5, rank_b - 1, name + "_b");
  const View sums = multiply_matrices(context, a, b, name + "_product", ElementType::kInt32);
  const std::size_t rank = sums.dimensions.size();
  rescale(context, sums, {1, 4, 6, 7, std::nullopt, rank == 0 ? 0 : rank - 1});
}

void mat_mul_integer(NodeContext& context) {
  const std::string name = context.output_name();
  const std::size_t rank_a = context.in(0).shape.size(), rank_b = context.in(1).shape.size();
  const View a = centred(context, 0, 2, rank_a < 2 ? 0 : rank_a - 2, name + "_a");
  const View b = centred(context, 1, 3, rank_b == 0 ? 0 : rank_b - 1, name + "_b");
  context.set(0, multiply_matrices(context, a, b, name, ElementType::kInt32), ElementType::kInt32);
}

/// Microsoft's, input and result quantised: x, its scale and zero, then those of the result.
void qlinear_global_average_pool(NodeContext& context) {
  const Value input = context.in(0);
  const bool is_channels_last = context.integer("channels_last", 0) != 0;
  std::set<std::size_t> plane;
  double n = 1;
  const std::size_t rank = input.shape.size();
  for (std::size_t d = is_channels_last ? 1 : 2; d < rank - (is_channels_last ? 1 : 0); ++d) {
    plane.insert(d);
    n *= static_cast<double>(input.shape[d]);
  }
  const std::string name = context.output_name();
  const View sums = context.reduced({context.view(0)}, plane, Reducing::kSum, name + "_sum",
                                    ElementType::kInt32, [](const auto& x) { return x[0]; });
  Reads reads({sums});
  const std::size_t scale = reads.add(parameter(context, 1, 1, rank, 1));
  const std::size_t zero = reads.add(parameter(context, 2, 0, rank, 1));
  const std::size_t scale_y = reads.add(parameter(context, 3, 1, rank, 1));
  const std::size_t zero_y = reads.add(parameter(context, 4, 0, rank, 1));
  context.set(
      0,
      context.pointwise(reads.views(), name, input.type,
                        [&](const auto& x) {
                          const Expr mean = x[0] * number(1 / n);
                          return quantised(
                              dequantised(mean, reads.get(x, scale, 1), reads.get(x, zero, 1)),
                              reads.get(x, scale_y, 1), reads.get(x, zero_y, 1), input.type);
                        }),
      input.type, lowest(input.type) >= 0);
}

/// Microsoft's: a, its scale and zero, b, its scale and zero, those of the result.
template <bool IsProduct>
void qlinear_binary(NodeContext& context) {
  const Value a = context.in(0);
  const std::size_t rank = broadcast(context, {a.shape, context.in(3).shape}).size();
  const ElementType type = a.type;
  Reads reads({context.view(0), context.view(3)});
  std::vector<std::size_t> p;
  const std::vector<std::size_t> inputs = {1, 2, 4, 5, 6, 7};
  for (const std::size_t input : inputs)
    p.push_back(reads.add(parameter(context, input, input % 3 == 1 ? 1 : 0, rank, rank - 1)));
  context.set(
      0,
      context.pointwise(reads.views(), context.output_name(), type,
                        [&](const auto& x) {
                          const Expr left =
                              dequantised(x[0], reads.get(x, p[0], 2), reads.get(x, p[1], 2));
                          const Expr right =
                              dequantised(x[1], reads.get(x, p[2], 2), reads.get(x, p[3], 2));
                          return quantised(IsProduct ? left * right : left + right,
                                           reads.get(x, p[4], 2), reads.get(x, p[5], 2), type);
                        }),
      type, lowest(type) >= 0);
}

template <Expr (*Function)(Expr)>
void qlinear_function(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t rank = input.shape.size();
  Reads reads({context.view(0)});
  std::vector<std::size_t> p;
  for (std::size_t i = 1; i < 5; ++i)
    p.push_back(reads.add(parameter(context, i, i % 2 == 1 ? 1 : 0, rank, 0)));
  const double alpha = context.real("alpha", 0.01F);
  const bool is_leaky = context.node().type == "QLinearLeakyRelu";
  context.set(
      0,
      context.pointwise(
          reads.views(), context.output_name(), input.type,
          [&](const auto& x) {
            const Expr real = dequantised(x[0], reads.get(x, p[0], 1), reads.get(x, p[1], 1));
            const Expr value =
                is_leaky ? maximum(real, number(0)) + number(alpha) * minimum(real, number(0))
                         : Function(real);
            return quantised(value, reads.get(x, p[2], 1), reads.get(x, p[3], 1), input.type);
          }),
      input.type, lowest(input.type) >= 0);
}

}  // namespace

void add_quantised(OperatorTable& table) {
  table["QuantizeLinear"] = quantize_linear;
  table["DequantizeLinear"] = dequantize_linear;
  table["DynamicQuantizeLinear"] = dynamic_quantize_linear;
  table["QLinearConv"] = qlinear_conv;
  table["ConvInteger"] = conv_integer;
  table["QLinearMatMul"] = qlinear_mat_mul;
  table["MatMulInteger"] = mat_mul_integer;
  table["QLinearGlobalAveragePool"] = qlinear_global_average_pool;
  table["QLinearAdd"] = qlinear_binary<false>;
  table["QLinearMul"] = qlinear_binary<true>;
  table["QLinearSigmoid"] = table["QLinearLeakyRelu"] = qlinear_function<sigmoid>;
}

}  // namespace sluice::onnx_graph
