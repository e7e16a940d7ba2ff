#pragma once

#include <vector>

#include "onnx_graph/cascade/expr.h"

namespace sluice::onnx_graph {

/// Scalar functions that several operators share.
/// What is read first, unchanged.
Expr first_of(const std::vector<Expr>& x);
Expr exponential(const Expr& x);
Expr sigmoid(Expr x);
Expr silu(const Expr& x);
/// x · Φ(x)
Expr gelu(const Expr& x);
/// Hendrycks and Gimpel 2016, Section 2: Φ by a tanh.
Expr gelu_tanh(const Expr& x);
Expr clipped(Expr x, double low, double high);
Expr positive(const Expr& x);
Expr negative(const Expr& x);
Expr leaky_relu(const Expr& x, double alpha);
Expr thresholded_relu(const Expr& x, double alpha);
Expr elu(const Expr& x, double alpha);
Expr hard_sigmoid(const Expr& x, double alpha, double beta);
Expr softplus(const Expr& x);
Expr softsign(const Expr& x);
/// An exponent that is known as products and roots; else by exponential and logarithm.
Expr power(const Expr& x, double exponent);

}  // namespace sluice::onnx_graph
