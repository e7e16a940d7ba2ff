#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

/// One operator that another one is made of, under names of its own.
void run(NodeContext& context, const std::string& type, std::vector<std::string> inputs,
         const std::string& output, bool keeps_attributes = false, const std::string& domain = {}) {
  Node node;
  node.type = type;
  node.domain = domain;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  if (keeps_attributes) node.attributes = context.node().attributes;
  NodeContext own(context.lowering(), node, context.record());
  all_operators().at(type)(own);
}

std::string input_name(const NodeContext& context, std::size_t input) {
  return context.has(input) ? context.node().inputs[input] : std::string();
}

/// Real numbers of an integer input, its scale and zero point; nobody writes them where products
/// or elementwise operators read them.
std::string dequantised_input(NodeContext& context, std::size_t values, std::size_t scale,
                              std::size_t zero) {
  const std::string name = context.output_name() + "_real" + std::to_string(values);
  run(context, "DequantizeLinear",
      {input_name(context, values), input_name(context, scale), input_name(context, zero)}, name);
  return name;
}

void quantise_output(NodeContext& context, const std::string& real, std::size_t scale,
                     std::size_t zero) {
  run(context, "QuantizeLinear", {real, input_name(context, scale), input_name(context, zero)},
      context.output_name());
}

/// Microsoft's operators of one quantised tensor: the operator on real numbers between the two
/// conversions. Inputs: x, its scale and zero point, those of the result.
template <const char* const& Type>
void of_one(NodeContext& context) {
  const std::string between = context.output_name() + "_real";
  run(context, Type, {dequantised_input(context, 0, 1, 2)}, between, true);
  quantise_output(context, between, 3, 4);
}

constexpr const char* kAveragePool = "AveragePool";
constexpr const char* kSoftmax = "Softmax";
constexpr const char* kReduceMean = "ReduceMean";

/// Scale and zero point of the result, then values, scale and zero point of each part.
void qlinear_concat(NodeContext& context) {
  std::vector<std::string> parts;
  for (std::size_t i = 2; i + 1 < context.n_inputs(); i += 3)
    parts.push_back(dequantised_input(context, i, i + 1, i + 2));
  if (parts.empty()) context.fail("it has no parts");
  std::vector<std::string> requantised;  // joined as integers
  for (std::size_t i = 0; i < parts.size(); ++i) {
    requantised.push_back(parts[i] + "_part");
    run(context, "QuantizeLinear", {parts[i], input_name(context, 0), input_name(context, 1)},
        requantised.back());
  }
  run(context, "Concat", requantised, context.output_name(), true);
}

/// A, B with scales and zero points, a bias of 32 bits, scale and zero point of the result.
void qgemm(NodeContext& context) {
  std::vector<std::string> operands = {dequantised_input(context, 0, 1, 2),
                                       dequantised_input(context, 3, 4, 5)};
  if (context.has(6)) {  // its scale is the product of theirs
    operands.push_back(context.output_name() + "_bias");
    run(context, "DequantizeLinear", {input_name(context, 6), input_name(context, 1)},
        operands.back());
  }
  const bool is_real = !context.has(7);
  const std::string between = is_real ? context.output_name() : context.output_name() + "_real";
  run(context, "Gemm", operands, between, true);
  if (!is_real) quantise_output(context, between, 7, 8);
}

/// Input, weights, bias, scales of both, mask, zero points of both.
void qattention(NodeContext& context) {
  const std::string name = context.output_name();
  run(context, "MatMul", {dequantised_input(context, 0, 3, 6), dequantised_input(context, 1, 4, 7)},
      name + "_qkv_product");
  run(context, "Add", {name + "_qkv_product", input_name(context, 2)}, name + "_qkv");
  run(context, "Attention", {name + "_qkv", "", "", input_name(context, 5)}, name, true,
      "com.microsoft");
}

}  // namespace

void add_quantised_parts(OperatorTable& table) {
  table["QLinearAveragePool"] = of_one<kAveragePool>;
  table["QLinearSoftmax"] = of_one<kSoftmax>;
  table["QLinearReduceMean"] = of_one<kReduceMean>;
  table["QLinearConcat"] = qlinear_concat;
  table["QGemm"] = qgemm;
  table["QAttention"] = qattention;
}

}  // namespace sluice::onnx_graph
