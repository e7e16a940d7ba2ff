#include <fmt/format.h>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/products.h"
#include "onnx_graph/operators/scaling.h"

namespace sluice::onnx_graph {
namespace {

/// sums · scale of a · scale of b, and an addend.
View scaled(NodeContext& context, const View& sums, const Parameter& a, const Parameter& b,
            std::size_t addend, ElementType type) {
  Reads reads({sums});
  const std::size_t of_a = reads.add(a), of_b = reads.add(b);
  std::vector<View> views = reads.views();
  const bool has_addend = context.has(addend);
  if (has_addend) views.push_back(context.view(addend));
  return context.pointwise(views, context.output_name(), type, [&](const auto& x) {
    Expr value = x[0] * (reads.get(x, of_a, 1) * reads.get(x, of_b, 1));
    return has_addend ? std::move(value) + x.back() : value;
  });
}

/// A, B, their scales, their zero points, an addend.
void mat_mul_integer_to_float(NodeContext& context) {
  const std::string name = context.output_name();
  const ElementType type = context.in(2).type;
  const std::size_t rank = context.in(0).shape.size(), last = context.in(1).shape.size() - 1;
  const View a = centred(context, 0, 4, rank < 2 ? 0 : rank - 2, name + "_a");
  const View b = centred(context, 1, 5, last, name + "_b");
  const View sums = multiply_matrices(context, a, b, name + "_product", ElementType::kInt32);
  const std::size_t n = sums.dimensions.size();
  context.set(0,
              scaled(context, sums, parameter(context, 2, 1, n, n - 1),
                     parameter(context, 3, 1, n, n - 1), 6, type),
              type);
}

/// A of real numbers, quantised by its range; B, its scale and zero point, an addend.
void dynamic_quantize_mat_mul(NodeContext& context) {
  const std::string name = context.output_name();
  const ElementType type = context.in(0).type;
  Node quantise;
  quantise.type = "DynamicQuantizeLinear";
  quantise.inputs = {context.node().inputs[0]};
  for (const char* part : {"_quantised", "_scale", "_zero"})
    quantise.outputs.push_back(name + part);
  NodeContext own(context.lowering(), quantise, context.record());
  all_operators().at("DynamicQuantizeLinear")(own);
  const View a = context.pointwise(
      {context.view(quantise.outputs[0]), context.view(quantise.outputs[2])}, name + "_a",
      ElementType::kUint8, [](const auto& x) { return x[0] - x[1]; });
  const View b = centred(context, 1, 3, context.in(1).shape.size() - 1, name + "_b");
  const View sums = multiply_matrices(context, a, b, name + "_product", ElementType::kInt32);
  const std::size_t n = sums.dimensions.size();
  context.set(0,
              scaled(context, sums, {std::nullopt, context.view(quantise.outputs[1])},
                     parameter(context, 2, 1, n, n - 1), 4, type),
              type);
}

/// Weights of few bits, packed, with a scale for each block of a row: A · (W · scale)ᵀ.
void mat_mul_n_bits(NodeContext& context) {
  const std::string name = context.output_name();
  const ElementType type = context.in(0).type;
  const std::int64_t k = context.integer("K", 0), n = context.integer("N", 0);
  const std::int64_t bits = context.integer("bits", 4), block = context.integer("block_size", 0);
  const Shape shape = context.in(0).shape;
  if (shape.empty() || shape.back() != k || k < 1 || n < 1 || n > 1 << 28 || block < 1 ||
      bits < 1 || bits > 8)
    context.fail("its K, N, bits and block_size do not fit its operands");
  if (context.has(3)) context.approximate("zero points of blocks are left out");
  const std::int64_t whole = k / block, rest = k % block, blocks = whole + (rest > 0 ? 1 : 0);
  const Value packed = context.in(1);
  for (const std::string& source : packed.sources)
    if (context.lowering().sources.count(source) > 0) context.lowering().sources[source] = n * k;
  const View scales = context.reshape(context.uncounted_view(2), {n, blocks}, type);
  const View a = context.reshape(context.view(0), {volume(shape) / k, k}, type);
  const bool has_addend = context.has(5);
  const auto product = [&](std::int64_t first, std::int64_t count, std::int64_t size,
                           const std::string& part) {
    Constant weights;
    weights.type = ElementType::kUint8;
    weights.shape = {n, count, size};
    const View w = context.table(part + "_weights", std::move(weights), packed.sources);
    context.cascade().tensors[w.tensor].bits = static_cast<int>(bits);
    const View rows = context.reshape(context.slice(a, 1, first * block, 1, count * size, type),
                                      {volume(shape) / k, count, size}, type);
    const View made = contract(context, {rows, w, context.slice(scales, 1, first, 1, count, type)},
                               {"mgk", "ngk", "ng"}, "mn", part, type, 1);
    context.cascade().einsums.back().weight = 1;
    return made;
  };
  const std::string sum = has_addend ? name + "_product" : name;
  View result;
  if (rest == 0 || whole == 0) {
    result = product(0, blocks, rest == 0 ? block : rest, sum);
  } else {  // the last block is a shorter one
    const View parts = product(0, whole, block, name + "_blocks");
    result = context.pointwise({parts, product(whole, 1, rest, name + "_rest")}, sum, type,
                               [](const auto& x) { return x[0] + x[1]; });
  }
  Shape out = shape;
  out.back() = n;
  result = context.reshape(result, out, type);
  if (has_addend)
    result = context.pointwise({result, context.view(5)}, name, type,
                               [](const auto& x) { return x[0] + x[1]; });
  context.set(0, result, type);
}

/// Rows of packed values with scales of blocks, a row for each index.
void gather_block_quantized(NodeContext& context) {
  const Value data = context.in(0);
  const std::int64_t bits = context.integer("bits", 4), block = context.integer("block_size", 128);
  const std::int64_t packed = data.type == ElementType::kUint8 && bits > 0 ? 8 / bits : 1;
  const std::size_t rank = data.shape.size();
  if (rank < 2 || bits < 1 || bits > 8 || block < 1) context.fail("its blocks do not fit its data");
  const std::size_t axis = context.axis(context.integer("gather_axis", 0), rank);
  const std::size_t quantised = context.axis(context.integer("quantize_axis", 1), rank);
  Shape whole = data.shape;
  whole.back() *= packed;
  Shape shape(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), context.in(1).shape.begin(), context.in(1).shape.end());
  shape.insert(shape.end(), whole.begin() + static_cast<std::ptrdiff_t>(axis) + 1, whole.end());
  if (axis != 0 || quantised != rank - 1 || whole.back() % block != 0 || !data.constant) {
    context.approximate(
        "all of its table is read, not rows: they do not lie along the first axis, "
        "or the blocks not in rows");
    return price_per_element(context, {shape}, {context.in(2).type});
  }
  context.approximate(
      "which rows it reads is not known before the run: the first ones stand for them");
  if (context.has(3)) context.approximate("zero points of blocks are left out");
  Constant values;
  values.type = ElementType::kUint8;
  values.shape = whole;
  values.shape.back() /= block;
  values.shape.push_back(block);
  const ElementType type = context.in(2).type;
  const View table = context.table(context.output_name() + "_values", values, data.sources);
  context.cascade().tensors[table.tensor].bits = static_cast<int>(bits);
  for (const std::string& source : data.sources)
    if (context.lowering().sources.count(source) > 0)
      context.lowering().sources[source] = volume(whole);
  View scales = context.uncounted_view(2);
  scales.dimensions.emplace_back();
  const std::int64_t n = volume(context.in(1).shape);
  std::vector<View> views = {table, scales};
  for (View& view : views) {
    view = context.slice(view, 0, 0, 1, n <= data.shape[0] ? n : 1, type);
    if (n > data.shape[0]) repeat(view, 0, n);
  }
  const View made = context.pointwise(views, context.output_name(), type,
                                      [](const auto& x) { return x[0] * x[1]; });
  context.set(0, context.reshape(made, shape, type), type);
}

/// Rows of three tables for each index, added up, then normalised.
void embed_layer_normalization(NodeContext& context) {
  const Shape ids = context.in(0).shape, table = context.in(2).shape;
  if (ids.size() != 2 || table.size() != 2) context.fail("its indices do not fit its tables");
  context.approximate(
      "which rows it reads is not known before the run: the first ones stand for them");
  const ElementType type = context.in(2).type;
  const std::string name = context.output_name();
  const auto rows = [&](std::size_t input, std::int64_t n) {
    View view = context.view(input);
    const std::int64_t size = size_of(view.dimensions[0]);
    view = context.slice(view, 0, 0, 1, n <= size ? n : 1, type);
    if (n > size) repeat(view, 0, n);
    return view;
  };
  const std::int64_t values = volume(ids);
  std::vector<View> parts = {context.reshape(rows(2, values), {ids[0], ids[1], table[1]}, type),
                             rows(3, ids[1])};
  if (context.has(1) && context.has(4))
    parts.push_back(context.reshape(rows(4, values), {ids[0], ids[1], table[1]}, type));
  const View sum = context.pointwise(parts, name + "_sum", type, [](const auto& x) {
    Expr all = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) all = std::move(all) + x[i];
    return all;
  });
  Node norm;
  norm.type = "LayerNormalization";
  norm.inputs = {name + "_embedded", context.node().inputs.at(5), context.node().inputs.at(6)};
  norm.outputs = {context.node().outputs.at(0)};
  norm.attributes = context.node().attributes;
  Value value;
  value.type = type;
  value.shape = {ids[0], ids[1], table[1]};
  value.view = sum;
  context.lowering().values[norm.inputs[0]] = std::move(value);
  NodeContext own(context.lowering(), norm, context.record());
  all_operators().at("LayerNormalization")(own);
  context.set(2, sum, type);
  if (context.node().outputs.size() > 1 && !context.node().outputs[1].empty())
    context.set(1,
                context.reduced({context.view(context.has(7) ? 7 : 0)}, {1}, Reducing::kSum,
                                context.output_name(1), ElementType::kInt32, first_of),
                ElementType::kInt32);
  if (const Value& lengths = context.lowering().values[context.output_name(1)];
      lengths.view && lengths.shape.size() == 2)
    context.set(1, context.reshape(*lengths.view, {ids[0]}, ElementType::kInt32),
                ElementType::kInt32);
}

/// A product with a bias and an activation behind it, by the names of its parts.
template <int NInputs>
void then_activation(NodeContext& context, const char* product, const std::string& activation) {
  Node first = context.node();
  first.type = product;
  first.inputs.resize(std::min<std::size_t>(first.inputs.size(), NInputs));
  if (activation.empty()) {
    NodeContext own(context.lowering(), first, context.record());
    return all_operators().at(product)(own);
  }
  const std::string between = context.output_name() + "_linear";
  first.outputs = {between};
  NodeContext own(context.lowering(), first, context.record());
  all_operators().at(product)(own);
  const auto rule = all_operators().find(activation);
  if (rule == all_operators().end())
    context.fail(fmt::format("its activation {} is not known", activation));
  Node second;
  second.type = activation;
  second.inputs = {between};
  second.outputs = context.node().outputs;
  NodeContext last(context.lowering(), second, context.record());
  rule->second(last);
}

void fused_gemm(NodeContext& context) {
  then_activation<3>(context, "Gemm", context.text("activation", ""));
}

}  // namespace

void add_microsoft_products(OperatorTable& table) {
  table["MatMulIntegerToFloat"] = mat_mul_integer_to_float;
  table["DynamicQuantizeMatMul"] = dynamic_quantize_mat_mul;
  table["MatMulNBits"] = mat_mul_n_bits;
  table["GatherBlockQuantized"] = gather_block_quantized;
  table["EmbedLayerNormalization"] = embed_layer_normalization;
  table["FusedGemm"] = fused_gemm;
}

}  // namespace sluice::onnx_graph
