#include "scalar.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sluice/support/error.h"

namespace sluice::sim {
namespace {

double unary(OperationKind kind, double x) {
  switch (kind) {
    case OperationKind::kNeg:
      return -x;
    case OperationKind::kAbs:
      return std::fabs(x);
    case OperationKind::kExp:
      return std::exp(x);
    case OperationKind::kLog:
      return std::log(x);
    case OperationKind::kSqrt:
      return std::sqrt(x);
    case OperationKind::kRsqrt:
      return 1 / std::sqrt(x);
    case OperationKind::kTanh:
      return std::tanh(x);
    case OperationKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case OperationKind::kErf:
      return std::erf(x);
    case OperationKind::kSin:
      return std::sin(x);
    case OperationKind::kCos:
      return std::cos(x);
    case OperationKind::kSquare:
      return x * x;
    case OperationKind::kRelu:
      return std::max(x, 0.0);
    default:
      break;
  }
  SLUICE_CHECK(kind == OperationKind::kCopy, "an operation of one argument without a meaning");
  return x;
}

double binary(OperationKind kind, double x, double y) {
  switch (kind) {
    case OperationKind::kAdd:
      return x + y;
    case OperationKind::kSub:
      return x - y;
    case OperationKind::kMul:
      return x * y;
    case OperationKind::kDiv:
      return x / y;
    case OperationKind::kMin:
      return std::min(x, y);
    case OperationKind::kMax:
      return std::max(x, y);
    default:
      break;
  }
  SLUICE_CHECK(false, "an operation of two arguments without a meaning");
  return 0;
}

}  // namespace

namespace {

double operation_value(const ScalarNode& node, const std::vector<double>& values) {
  const double first = values[node.operands[0]];
  return node.operands.size() == 1 ? unary(node.operation, first)
                                   : binary(node.operation, first, values[node.operands[1]]);
}

}  // namespace

double expression_value(const ScalarExpression& expression,
                        const std::function<double(std::uint32_t access)>& operand) {
  std::vector<double> values;
  for (const ScalarNode& node : expression.nodes) {
    switch (node.kind) {
      case ScalarNode::Kind::kAccess:
        values.push_back(operand(node.access));
        break;
      case ScalarNode::Kind::kConstant:
        values.push_back(node.constant);
        break;
      case ScalarNode::Kind::kOperation:
        values.push_back(operation_value(node, values));
        break;
    }
  }
  SLUICE_CHECK(!values.empty(), "an Einsum without an expression");
  return values.back();
}

double expression_value(const ScalarExpression& expression, const double* operands,
                        std::vector<double>& scratch) {
  scratch.clear();
  for (const ScalarNode& node : expression.nodes) {
    if (node.kind == ScalarNode::Kind::kAccess)
      scratch.push_back(operands[node.access]);
    else if (node.kind == ScalarNode::Kind::kConstant)
      scratch.push_back(node.constant);
    else
      scratch.push_back(operation_value(node, scratch));
  }
  return scratch.back();
}

double combined(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::kNone:
      return b;
    case Reduction::kSum:
      return a + b;
    case Reduction::kProduct:
      return a * b;
    case Reduction::kMin:
      return std::min(a, b);
    case Reduction::kMax:
      return std::max(a, b);
  }
  return b;
}

}  // namespace sluice::sim
