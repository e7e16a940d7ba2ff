#include "referee/points/scalar.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::referee {
namespace {

/// select(a, b, -c)
ScalarExpression choice() {
  ScalarExpression expression;
  for (std::uint32_t access = 0; access < 3; ++access) {
    ScalarNode node;
    node.kind = ScalarNode::Kind::kAccess;
    node.access = access;
    expression.nodes.push_back(node);
  }
  ScalarNode operation;
  operation.kind = ScalarNode::Kind::kOperation;
  operation.operation = OperationKind::kNeg;
  operation.operands = {2};
  expression.nodes.push_back(operation);
  operation.operation = OperationKind::kSelect;
  operation.operands = {0, 1, 3};
  expression.nodes.push_back(operation);
  return expression;
}

// Products with 0 and 1 would make 0 · inf of it.
TEST(Scalar, AChoiceLeavesAloneWhatItDoesNotTake) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ScalarExpression expression = choice();
  RepeatedExpression repeated(expression, 3);
  for (const double condition : {0.0, 1.0, -0.5}) {
    const std::vector<double> values = {condition, 7, kInfinity};
    for (std::uint32_t access = 0; access < 3; ++access) repeated.set(access, values[access]);
    const double taken = condition != 0 ? 7 : -kInfinity;
    EXPECT_EQ(expression_value(expression, [&](std::uint32_t a) { return values[a]; }), taken);
    EXPECT_EQ(repeated.value(), taken);
  }
}

}  // namespace
}  // namespace sluice::referee
