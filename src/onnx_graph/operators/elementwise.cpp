#include <cmath>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

bool all_nonnegative(NodeContext& context) {
  for (std::size_t i = 0; i < context.n_inputs(); ++i) {
    const auto known = context.scalar(i);
    if (known ? *known < 0 : !context.in(i).is_nonnegative) return false;
  }
  return true;
}

std::vector<std::size_t> all_inputs(NodeContext& context) {
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < context.n_inputs(); ++i)
    if (context.has(i)) inputs.push_back(i);
  return inputs;
}

/// Combines all inputs, one after the other.
template <Expr (*Combine)(Expr, Expr)>
void combine(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const View result = context.pointwise_inputs(all_inputs(context), type, [](const auto& x) {
    Expr all = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) all = Combine(std::move(all), x[i]);
    return x.size() == 1 ? x[0] : all;
  });
  context.set(0, result, type, all_nonnegative(context));
}

Expr add(Expr a, Expr b) { return std::move(a) + std::move(b); }
Expr multiply(Expr a, Expr b) { return std::move(a) * std::move(b); }

void subtract(NodeContext& context) {
  const ElementType type = context.in(0).type;
  context.set(0, context.pointwise_inputs({0, 1}, type, [](const auto& x) { return x[0] - x[1]; }),
              type);
}

/// Whole numbers are divided towards zero.
void divide(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const bool is_whole = is_integer(type);
  const bool is_nonnegative = all_nonnegative(context);
  if (is_whole && !is_nonnegative) context.approximate("division of whole numbers rounds down");
  const View result = context.pointwise_inputs(
      {0, 1}, type, [&](const auto& x) { return is_whole ? floored(x[0] / x[1]) : x[0] / x[1]; });
  context.set(0, result, type, is_nonnegative);
}

void average(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const View result = context.pointwise_inputs(all_inputs(context), type, [](const auto& x) {
    Expr sum = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) sum = std::move(sum) + x[i];
    return std::move(sum) * number(1.0 / static_cast<double>(x.size()));
  });
  context.set(0, result, type, all_nonnegative(context));
}

void pow(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const auto exponent = context.scalar(1);
  if (exponent) {
    const View result =
        context.pointwise_inputs({0}, type, [&](const auto& x) { return power(x[0], *exponent); });
    return context.set(0, result, type, std::fmod(*exponent, 2) == 0);
  }
  context.approximate("powers with exponents known at run time only: exp(y · log(x))");
  context.set(
      0,
      context.pointwise_inputs(
          {0, 1}, type, [](const auto& x) { return apply("exp", {x[1] * apply("log", {x[0]})}); }),
      type, true);
}

void modulo(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const bool as_c = context.integer("fmod", 0) != 0;
  if (as_c) context.approximate("fmod takes the sign of the divisor");
  context.set(0,
              context.pointwise_inputs(
                  {0, 1}, type, [](const auto& x) { return x[0] - x[1] * floored(x[0] / x[1]); }),
              type);
}

/// One function of the vector unit.
template <const char* const& Name, bool IsNonnegative>
void one_operation(NodeContext& context) {
  const ElementType type = context.in(0).type;
  context.set(
      0, context.pointwise_inputs({0}, type, [](const auto& x) { return apply(Name, {x[0]}); }),
      type, IsNonnegative);
}

constexpr const char* kAbs = "abs";
constexpr const char* kNeg = "neg";
constexpr const char* kExp = "exp";
constexpr const char* kLog = "log";
constexpr const char* kSqrt = "sqrt";
constexpr const char* kTanh = "tanh";
constexpr const char* kErf = "erf";
constexpr const char* kSin = "sin";
constexpr const char* kCos = "cos";

template <Expr (*Function)(const Expr&), bool IsNonnegative>
void formula(NodeContext& context) {
  const ElementType type = context.in(0).type;
  context.set(0, context.pointwise_inputs({0}, type, [](const auto& x) { return Function(x[0]); }),
              type, IsNonnegative);
}

Expr logarithm(const Expr& x) { return apply("log", {x}); }
Expr reciprocal(const Expr& x) { return number(1) / x; }
Expr tangent(const Expr& x) { return apply("sin", {x}) / apply("cos", {x}); }
Expr sinh(const Expr& x) { return (exponential(x) - exponential(number(0) - x)) * number(0.5); }
Expr cosh(const Expr& x) { return (exponential(x) + exponential(number(0) - x)) * number(0.5); }
Expr asinh(const Expr& x) {
  return logarithm(x + apply("sqrt", {apply("square", {x}) + number(1)}));
}
Expr acosh(const Expr& x) {
  return logarithm(x + apply("sqrt", {apply("square", {x}) - number(1)}));
}
Expr atanh(const Expr& x) { return number(0.5) * logarithm((number(1) + x) / (number(1) - x)); }
Expr to_even(const Expr& x) { return rounded(x); }
Expr ceiling(const Expr& x) { return number(0) - floored(number(0) - x); }
Expr sign(const Expr& x) { return apply("step", {x}) - apply("step", {number(0) - x}); }

/// Inverse angles have no operation: priced as a tanh.
void inverse_angle(NodeContext& context) {
  context.approximate("inverse angles are priced as tanh");
  one_operation<kTanh, false>(context);
}

/// Nothing draws them on the machine: they stand there when the run begins.
void random_numbers(NodeContext& context) {
  context.approximate(
      "random numbers are not drawn, but read as if they were there before the run");
  Constant numbers;
  numbers.type = static_cast<ElementType>(context.integer("dtype", 1));
  numbers.shape = context.integers("shape");
  context.set_constant(0, std::move(numbers), {});
}

}  // namespace

void add_elementwise(OperatorTable& table) {
  table["Add"] = table["Sum"] = combine<add>;
  table["Mul"] = combine<multiply>;
  table["Max"] = combine<maximum>;
  table["Min"] = combine<minimum>;
  table["Sub"] = subtract;
  table["Div"] = divide;
  table["Mean"] = average;
  table["Pow"] = pow;
  table["Mod"] = modulo;
  table["Abs"] = one_operation<kAbs, true>;
  table["Neg"] = one_operation<kNeg, false>;
  table["Exp"] = one_operation<kExp, true>;
  table["Log"] = one_operation<kLog, false>;
  table["Sqrt"] = one_operation<kSqrt, true>;
  table["Tanh"] = one_operation<kTanh, false>;
  table["Erf"] = one_operation<kErf, false>;
  table["Sin"] = one_operation<kSin, false>;
  table["Cos"] = one_operation<kCos, false>;
  table["Reciprocal"] = formula<reciprocal, false>;
  table["Tan"] = formula<tangent, false>;
  table["Sinh"] = formula<sinh, false>;
  table["Cosh"] = formula<cosh, true>;
  table["Asinh"] = formula<asinh, false>;
  table["Acosh"] = formula<acosh, true>;
  table["Atanh"] = formula<atanh, false>;
  table["Round"] = formula<to_even, false>;
  table["Floor"] = formula<floored, false>;
  table["Ceil"] = formula<ceiling, false>;
  table["Sign"] = formula<sign, false>;
  table["RandomNormal"] = table["RandomUniform"] = random_numbers;
  table["Asin"] = table["Acos"] = table["Atan"] = inverse_angle;
}

}  // namespace sluice::onnx_graph
