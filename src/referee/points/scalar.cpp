#include "scalar.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sluice/support/error.h"

namespace sluice::referee {
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
    case OperationKind::kStep:
      return x >= 0 ? 1 : 0;
    default:
      break;
  }
  SLUICE_CHECK(kind == OperationKind::kCopy, "an operation of one argument without a meaning");
  return x;
}

/// Of one operand: it again.
std::uint32_t second_operand(const ScalarNode& node) {
  return node.operands[node.operands.size() > 1 ? 1 : 0];
}

}  // namespace

double operation_value(OperationKind kind, double first, double second, double third) {
  switch (kind) {
    case OperationKind::kAdd:
      return first + second;
    case OperationKind::kSub:
      return first - second;
    case OperationKind::kMul:
      return first * second;
    case OperationKind::kDiv:
      return first / second;
    case OperationKind::kMin:
      return std::min(first, second);
    case OperationKind::kMax:
      return std::max(first, second);
    case OperationKind::kSelect:
      return first != 0 ? second : third;
    default:
      return unary(kind, first);
  }
}

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
        values.push_back(operation_value(node.operation, values[node.operands.front()],
                                         values[second_operand(node)],
                                         values[node.operands.back()]));
        break;
    }
  }
  SLUICE_CHECK(!values.empty(), "an Einsum without an expression");
  return values.back();
}

RepeatedExpression::RepeatedExpression(const ScalarExpression& expression, std::size_t n_accesses)
    : values_(n_accesses, 0) {
  std::vector<std::size_t> places;  // per node
  for (const ScalarNode& node : expression.nodes) {
    if (node.kind == ScalarNode::Kind::kAccess) {
      places.push_back(node.access);
      continue;
    }
    places.push_back(values_.size());
    values_.push_back(node.constant);
    if (node.kind == ScalarNode::Kind::kOperation)
      operations_.push_back({node.operation, places[node.operands.front()],
                             places[second_operand(node)], places[node.operands.back()],
                             places.back()});
  }
  SLUICE_CHECK(!places.empty(), "an Einsum without an expression");
  result_ = places.back();
}

}  // namespace sluice::referee
