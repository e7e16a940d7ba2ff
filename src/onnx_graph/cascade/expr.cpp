#include "onnx_graph/cascade/expr.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice::onnx_graph {
namespace {

bool is_number(const Expr& e) { return e.kind == Expr::Kind::kConstant; }

bool fold(const std::string& operation, double a, double b, double& result) {
  if (operation == "add")
    result = a + b;
  else if (operation == "sub")
    result = a - b;
  else if (operation == "mul")
    result = a * b;
  else if (operation == "div")
    result = a / b;
  else if (operation == "min")
    result = std::fmin(a, b);
  else if (operation == "max")
    result = std::fmax(a, b);
  else
    return false;
  return !std::isnan(result);
}

void count(const Expr& e, std::map<std::string, std::int64_t>& counts) {
  if (e.kind == Expr::Kind::kOperation) ++counts[e.operation];
  for (const Expr& operand : e.operands) count(operand, counts);
}

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "(-inf)";
  if (std::signbit(value)) return fmt::format("(-{})", -value);
  return fmt::format("{}", value);
}

const char* infix(const std::string& operation) {
  if (operation == "add") return " + ";
  if (operation == "sub") return " - ";
  if (operation == "mul") return " * ";
  if (operation == "div") return " / ";
  return nullptr;
}

std::string text(const Expr& e, const std::vector<std::string>& accesses, bool is_outermost) {
  if (e.kind == Expr::Kind::kAccess) return accesses[e.access];
  if (is_number(e)) return number_text(e.value);
  std::vector<std::string> parts;
  const char* sign = infix(e.operation);
  for (const Expr& operand : e.operands) parts.push_back(text(operand, accesses, sign == nullptr));
  if (sign == nullptr) return fmt::format("{}({})", e.operation, fmt::join(parts, ", "));
  return is_outermost ? parts[0] + sign + parts[1] : "(" + parts[0] + sign + parts[1] + ")";
}

constexpr double kNoBitsBehindThePoint = 6755399441055744;  // 1.5 · 2^52

}  // namespace

Expr read(std::size_t access) {
  Expr e;
  e.kind = Expr::Kind::kAccess;
  e.access = access;
  return e;
}

Expr number(double value) {
  Expr e;
  e.value = std::isnan(value) ? 0 : value;
  return e;
}

Expr apply(const std::string& operation, std::vector<Expr> operands) {
  double value = 0;
  if (operands.size() == 2 && is_number(operands[0]) && is_number(operands[1]) &&
      fold(operation, operands[0].value, operands[1].value, value))
    return number(value);
  Expr e;
  e.kind = Expr::Kind::kOperation;
  e.operation = operation;
  e.operands = std::move(operands);
  return e;
}

Expr operator+(Expr a, Expr b) { return apply("add", {std::move(a), std::move(b)}); }
Expr operator-(Expr a, Expr b) { return apply("sub", {std::move(a), std::move(b)}); }
Expr operator*(Expr a, Expr b) { return apply("mul", {std::move(a), std::move(b)}); }
Expr operator/(Expr a, Expr b) { return apply("div", {std::move(a), std::move(b)}); }
Expr maximum(Expr a, Expr b) { return apply("max", {std::move(a), std::move(b)}); }
Expr minimum(Expr a, Expr b) { return apply("min", {std::move(a), std::move(b)}); }

Expr rounded(Expr x) {
  return (std::move(x) + number(kNoBitsBehindThePoint)) - number(kNoBitsBehindThePoint);
}

Expr floored(const Expr& x) { return (rounded(x) + apply("step", {x - rounded(x)})) - number(1); }

Expr greater(Expr a, Expr b) { return number(1) - apply("step", {std::move(b) - std::move(a)}); }

std::map<std::string, std::int64_t> operations(const Expr& expression) {
  std::map<std::string, std::int64_t> counts;
  count(expression, counts);
  return counts;
}

std::size_t size_of(const Expr& expression) {
  std::size_t size = 1;
  for (const Expr& operand : expression.operands) size += size_of(operand);
  return size;
}

bool is_product(const Expr& e) { return e.kind == Expr::Kind::kOperation && e.operation == "mul"; }

std::string to_text(const Expr& expression, const std::vector<std::string>& accesses) {
  return text(expression, accesses, true);
}

}  // namespace sluice::onnx_graph
