#include "onnx_graph/cascade/formulas.h"

#include <cmath>

namespace sluice::onnx_graph {

Expr first_of(const std::vector<Expr>& x) { return x[0]; }

Expr exponential(const Expr& x) { return apply("exp", {x}); }

Expr sigmoid(Expr x) { return apply("sigmoid", {std::move(x)}); }

Expr silu(const Expr& x) { return x * sigmoid(x); }

Expr gelu(const Expr& x) {
  return x * (number(0.5) + number(0.5) * apply("erf", {x * number(std::sqrt(0.5))}));
}

Expr gelu_tanh(const Expr& x) {
  const double scale = std::sqrt(2 / M_PI);
  const Expr inner = x * (number(scale) + number(scale * 0.044715) * apply("square", {x}));
  return x * (number(0.5) + number(0.5) * apply("tanh", {inner}));
}

Expr clipped(Expr x, double low, double high) {
  if (!std::isinf(low)) x = maximum(std::move(x), number(low));
  if (!std::isinf(high)) x = minimum(std::move(x), number(high));
  return x;
}

Expr positive(const Expr& x) { return maximum(x, number(0)); }

Expr negative(const Expr& x) { return minimum(x, number(0)); }

Expr leaky_relu(const Expr& x, double alpha) { return positive(x) + number(alpha) * negative(x); }

Expr thresholded_relu(const Expr& x, double alpha) { return x * greater(x, number(alpha)); }

Expr elu(const Expr& x, double alpha) {
  return positive(x) + number(alpha) * (exponential(negative(x)) - number(1));
}

Expr hard_sigmoid(const Expr& x, double alpha, double beta) {
  return clipped(number(alpha) * x + number(beta), 0, 1);
}

Expr softplus(const Expr& x) { return apply("log", {exponential(x) + number(1)}); }

Expr softsign(const Expr& x) { return x / (number(1) + apply("abs", {x})); }

Expr power(const Expr& x, double exponent) {
  if (exponent == 0) return x * number(0) + number(1);
  if (exponent == 1) return x;
  if (exponent == 2) return apply("square", {x});
  if (exponent == 3) return apply("square", {x}) * x;
  if (exponent == 4) return apply("square", {apply("square", {x})});
  if (exponent == 0.5) return apply("sqrt", {x});
  if (exponent == -0.5) return apply("rsqrt", {x});
  if (exponent == -1) return number(1) / x;
  if (exponent == -2) return number(1) / apply("square", {x});
  return apply("exp", {number(exponent) * apply("log", {x})});
}

}  // namespace sluice::onnx_graph
