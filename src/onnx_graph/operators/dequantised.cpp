#include "onnx_graph/operators/dequantised.h"

#include "onnx_graph/operators/convolution.h"
#include "onnx_graph/operators/products.h"
#include "onnx_graph/operators/scaling.h"

namespace sluice::onnx_graph {
namespace {

const Dequantised* parts_of(NodeContext& context, std::size_t input) {
  return context.has(input) && context.in(input).dequantised ? &*context.in(input).dequantised
                                                             : nullptr;
}

const Value& value_of(NodeContext& context, const std::string& name) {
  return context.lowering().values.at(name);
}

bool has_one_scale(NodeContext& context, const Dequantised& parts) {
  return volume(value_of(context, parts.scale).shape) == 1;
}

bool is_narrow(NodeContext& context, const Dequantised& parts) {
  const ElementType type = value_of(context, parts.values).type;
  return is_integer(type) && bits_of(type) <= 16;
}

/// Where the channels of the second operand lie: only their scales can be taken out of the sums.
std::optional<std::size_t> channels_of(NodeContext& context) {
  const std::string& type = context.node().type;
  const std::size_t rank = context.in(1).shape.size();
  if (type == "Conv") return 0;
  if (rank < 2) return std::nullopt;
  if (type == "Gemm") return context.integer("transB", 0) != 0 ? 0 : 1;
  return rank - 1;
}

/// The same node over integers: values, scale and zero point of both operands, and the bias.
struct Product {
  Node node;
  std::size_t channels = 0;
  bool has_integer_bias = false;
};

std::optional<Product> product_of_integers(NodeContext& context) {
  const Dequantised *a = parts_of(context, 0), *b = parts_of(context, 1);
  const auto channels = channels_of(context);
  if (a == nullptr || b == nullptr || !channels || !has_one_scale(context, *a) ||
      !is_narrow(context, *a) || !is_narrow(context, *b) || context.in(0).shape.size() < 2 ||
      (!has_one_scale(context, *b) && b->axis != *channels))
    return std::nullopt;
  const bool is_scaled = context.real("alpha", 1) != 1 || context.real("beta", 1) != 1;
  if (context.node().type == "Gemm" && is_scaled) return std::nullopt;
  Product product{context.node(), *channels, false};
  product.node.inputs = {a->values, a->scale, a->zero, b->values, b->scale, b->zero, ""};
  if (!context.has(2)) return product;
  const Dequantised* bias = parts_of(context, 2);
  product.has_integer_bias =
      bias != nullptr && value_of(context, bias->values).type == ElementType::kInt32;
  product.node.inputs[6] = product.has_integer_bias ? bias->values : context.node().inputs[2];
  return product;
}

View sums_of(NodeContext& context, const Product& product, const std::string& name) {
  const std::string& type = context.node().type;
  const bool is_convolution = type == "Conv";
  View a = centred(context, 0, 2, 0, name + "_a");
  View b = centred(context, 3, 5, product.channels, name + "_b");
  if (is_convolution)
    return convolve(context, std::move(a), std::move(b), name + "_product", ElementType::kInt32);
  if (type == "Gemm" && context.integer("transA", 0) != 0)
    std::swap(a.dimensions[0], a.dimensions[1]);
  if (type == "Gemm" && context.integer("transB", 0) != 0)
    std::swap(b.dimensions[0], b.dimensions[1]);
  return multiply_matrices(context, std::move(a), std::move(b), name + "_product",
                           ElementType::kInt32);
}

}  // namespace

bool multiplied_as_integers(NodeContext& original) {
  const auto product = product_of_integers(original);
  if (!product) return false;
  const ElementType type = original.in(0).type;
  NodeContext context(original.lowering(), product->node, original.record());
  const std::string name = context.output_name();
  const View sums = sums_of(context, *product, name);
  const std::size_t rank = sums.dimensions.size();
  const std::size_t channel = context.node().type == "Conv" ? 1 : rank - 1;
  Reads reads({sums});
  const std::size_t a = reads.add(parameter(context, 1, 1, rank, channel));
  const std::size_t b = reads.add(parameter(context, 4, 1, rank, channel));
  const bool is_matrix =
      context.node().type != "Conv" && context.has(6) && context.in(6).shape.size() > 1;
  std::optional<std::size_t> bias;
  if (context.has(6))
    bias = reads.add(is_matrix ? Parameter{std::nullopt, context.view(6)}
                               : bias_of(context, 6, rank, channel));
  context.set(0,
              context.pointwise(reads.views(), name, type,
                                [&](const auto& x) {
                                  const Expr scale = reads.get(x, a, 1) * reads.get(x, b, 1);
                                  if (!bias) return x[0] * scale;
                                  const Expr addend = reads.get(x, *bias, 1);
                                  return product->has_integer_bias ? (x[0] + addend) * scale
                                                                   : x[0] * scale + addend;
                                }),
              type);
  return true;
}

bool moved_as_integers(NodeContext& context, Operator rule) {
  static const std::set<std::string> types = {"Reshape",   "Flatten", "Squeeze", "Unsqueeze",
                                              "Transpose", "MaxPool", "Identity"};
  const Node& node = context.node();
  if (types.count(node.type) == 0 || node.outputs.size() != 1) return false;
  const Dequantised* parts = parts_of(context, 0);
  if (parts == nullptr || context.in(0).view || !has_one_scale(context, *parts)) return false;
  const Dequantised from = *parts;
  Value value;
  value.type = context.in(0).type;
  value.is_nonnegative = context.in(0).is_nonnegative;
  Node inner = node;
  inner.inputs[0] = from.values;
  inner.outputs[0] += "_integers";
  NodeContext integers(context.lowering(), inner, context.record());
  rule(integers);
  value.shape = context.lowering().values.at(inner.outputs[0]).shape;
  value.dequantised = {inner.outputs[0], from.scale, from.zero, 0};
  Node scaled;
  scaled.type = "DequantizeLinear";
  scaled.inputs = {inner.outputs[0], from.scale, from.zero};
  scaled.outputs = {node.outputs[0]};
  value.make_view = [scaled, record = context.record()](Lowering& lowering) {
    NodeContext own(lowering, scaled, record);
    return dequantise(own);
  };
  context.lowering().values[node.outputs[0]] = std::move(value);
  return true;
}

}  // namespace sluice::onnx_graph
