#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::onnx_graph {

/// A right-hand side: what is computed from the values that an Einsum reads. Constants are folded.
struct Expr {
  enum class Kind { kAccess, kConstant, kOperation };
  Kind kind = Kind::kConstant;
  std::size_t access = 0;
  double value = 0;
  std::string operation;  ///< add, mul, exp, … as in spec files
  std::vector<Expr> operands;
};

Expr read(std::size_t access);
Expr number(double value);
Expr apply(const std::string& operation, std::vector<Expr> operands);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr maximum(Expr a, Expr b);
Expr minimum(Expr a, Expr b);

/// The nearest whole number, halves to the even one: adding 1.5 · 2^52 leaves no bits behind the
/// point.
Expr rounded(Expr x);
Expr floored(const Expr& x);
/// 1 where a > b, else 0.
Expr greater(Expr a, Expr b);

/// Operations for each point, without the reduction.
std::map<std::string, std::int64_t> operations(const Expr& expression);
std::size_t size_of(const Expr& expression);
bool is_product(const Expr& expression);

/// As in spec files; `accesses` are the texts of what is read.
std::string to_text(const Expr& expression, const std::vector<std::string>& accesses);

}  // namespace sluice::onnx_graph
