#include <cmath>
#include <limits>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void activate(NodeContext& context, const std::function<Expr(const Expr&)>& function,
              bool is_nonnegative = false) {
  const ElementType type = context.in(0).type;
  context.set(0, context.pointwise_inputs({0}, type, [&](const auto& x) { return function(x[0]); }),
              type, is_nonnegative);
}

void relu(NodeContext& context) { activate(context, positive, true); }
void sigmoid_of(NodeContext& context) {
  activate(
      context, [](const Expr& x) { return sigmoid(x); }, true);
}
void silu_of(NodeContext& context) {
  const double alpha = context.real("alpha", context.node().type == "QuickGelu" ? 1.702 : 1);
  activate(context,
           [&](const Expr& x) { return alpha == 1 ? silu(x) : x * sigmoid(number(alpha) * x); });
}
void gelu_of(NodeContext& context) {
  const bool is_tanh = context.text("approximate", "none") == "tanh";
  activate(context, is_tanh ? gelu_tanh : gelu);
}
/// Microsoft's: a bias may come with it.
void fast_gelu(NodeContext& context) {
  if (!context.has(1)) return activate(context, gelu_tanh);
  const ElementType type = context.in(0).type;
  const View sum = context.pointwise_inputs(
      {0, 1}, type, [](const auto& x) { return x[0] + x[1]; }, context.output_name() + "_biased");
  context.set(0,
              context.pointwise({sum}, context.output_name(), type,
                                [](const auto& x) { return gelu_tanh(x[0]); }),
              type);
}
void bias_gelu(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const View sum = context.pointwise_inputs(
      {0, 1}, type, [](const auto& x) { return x[0] + x[1]; }, context.output_name() + "_biased");
  context.set(0,
              context.pointwise({sum}, context.output_name(), type,
                                [](const auto& x) { return gelu(x[0]); }),
              type);
}
void leaky_relu_of(NodeContext& context) {
  const double alpha = context.real("alpha", 0.01F);
  activate(context, [&](const Expr& x) { return leaky_relu(x, alpha); });
}
void prelu(NodeContext& context) {
  const ElementType type = context.in(0).type;
  context.set(
      0,
      context.pointwise_inputs(
          {0, 1}, type, [](const auto& x) { return positive(x[0]) + x[1] * negative(x[0]); }),
      type);
}
void elu_of(NodeContext& context) {
  const double alpha = context.real("alpha", 1);
  activate(context, [&](const Expr& x) { return elu(x, alpha); });
}
void celu(NodeContext& context) {
  const double alpha = context.real("alpha", 1);
  activate(context, [&](const Expr& x) {
    return positive(x) + number(alpha) * (exponential(negative(x) * number(1 / alpha)) - number(1));
  });
}
void selu(NodeContext& context) {
  const double alpha = context.real("alpha", 1.67326319217681884765625);
  const double gamma = context.real("gamma", 1.05070102214813232421875);
  activate(context, [&](const Expr& x) { return number(gamma) * elu(x, alpha); });
}
void hard_sigmoid_of(NodeContext& context) {
  const double alpha = context.real("alpha", 0.2F), beta = context.real("beta", 0.5);
  activate(
      context, [&](const Expr& x) { return hard_sigmoid(x, alpha, beta); }, true);
}
void hard_swish(NodeContext& context) {
  activate(context,
           [](const Expr& x) { return x * clipped(x * number(1.0 / 6) + number(0.5), 0, 1); });
}
void softplus_of(NodeContext& context) { activate(context, softplus, true); }
void mish(NodeContext& context) {
  activate(context, [](const Expr& x) { return x * apply("tanh", {softplus(x)}); });
}
void softsign_of(NodeContext& context) { activate(context, softsign); }
void thresholded_relu_of(NodeContext& context) {
  const double alpha = context.real("alpha", 1);
  activate(
      context, [&](const Expr& x) { return thresholded_relu(x, alpha); }, alpha >= 0);
}
void shrink(NodeContext& context) {
  const double lambda = context.real("lambd", 0.5), bias = context.real("bias", 0);
  activate(context, [&](const Expr& x) {
    return greater(number(-lambda), x) * (x + number(bias)) +
           greater(x, number(lambda)) * (x - number(bias));
  });
}

/// Limits are attributes (opset 6) or inputs (11).
void clip(NodeContext& context) {
  double low = context.real("min", -kInfinity), high = context.real("max", kInfinity);
  const bool varies =
      (context.has(1) && !context.scalar(1)) || (context.has(2) && !context.scalar(2));
  if (varies) {
    const ElementType type = context.in(0).type;
    std::vector<std::size_t> inputs = {0};
    if (context.has(1)) inputs.push_back(1);
    if (context.has(2)) inputs.push_back(2);
    const bool has_low = context.has(1), has_high = context.has(2);
    return context.set(0,
                       context.pointwise_inputs(inputs, type,
                                                [&](const auto& x) {
                                                  Expr result = x[0];
                                                  if (has_low) result = maximum(result, x[1]);
                                                  if (has_high) result = minimum(result, x.back());
                                                  return result;
                                                }),
                       type);
  }
  low = context.scalar(1).value_or(low);
  high = context.scalar(2).value_or(high);
  if (std::isinf(low) && std::isinf(high))
    return context.set(0, context.view(0), context.in(0).type, context.in(0).is_nonnegative);
  activate(
      context, [&](const Expr& x) { return clipped(x, low, high); },
      low >= 0 || context.in(0).is_nonnegative);
}

}  // namespace

void add_activations(OperatorTable& table) {
  table["Relu"] = relu;
  table["Sigmoid"] = sigmoid_of;
  table["Silu"] = table["SiLU"] = table["Swish"] = silu_of;
  table["QuickGelu"] = silu_of;
  table["Gelu"] = gelu_of;
  table["FastGelu"] = fast_gelu;
  table["BiasGelu"] = bias_gelu;
  table["LeakyRelu"] = leaky_relu_of;
  table["PRelu"] = prelu;
  table["Elu"] = elu_of;
  table["Celu"] = celu;
  table["Selu"] = selu;
  table["HardSigmoid"] = hard_sigmoid_of;
  table["HardSwish"] = hard_swish;
  table["Softplus"] = softplus_of;
  table["Mish"] = mish;
  table["Softsign"] = softsign_of;
  table["ThresholdedRelu"] = thresholded_relu_of;
  table["Shrink"] = shrink;
  table["Clip"] = clip;
}

}  // namespace sluice::onnx_graph
