#include "sluice/workload/operation.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

ScalarNode access(std::uint32_t index) {
  ScalarNode node;
  node.kind = ScalarNode::Kind::kAccess;
  node.access = index;
  return node;
}

ScalarNode operation(OperationKind kind, std::vector<std::uint32_t> operands) {
  ScalarNode node;
  node.kind = ScalarNode::Kind::kOperation;
  node.operation = kind;
  node.operands = std::move(operands);
  return node;
}

TEST(Operation, NamesAndKindsBelongTogether) {
  for (int i = 0; i < kOperationKindCount; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    EXPECT_EQ(operation_from_name(operation_name(kind)), kind);
  }
  EXPECT_EQ(operation_from_name("fma"), std::nullopt);
}

TEST(OperationsPerPoint, CountASummedProductAsOneMulAdd) {
  const ScalarExpression product{{access(0), access(1), operation(OperationKind::kMul, {0, 1})},
                                 Reduction::kSum};
  EXPECT_EQ(operations_per_point(product),
            (std::vector<OperationCount>{{OperationKind::kMulAdd, 1}}));
}

TEST(OperationsPerPoint, CountEveryOperationAndTheReduction) {
  // max over exp(a - b): one sub, one max, one exp
  const ScalarExpression expression{{access(0), access(1), operation(OperationKind::kSub, {0, 1}),
                                     operation(OperationKind::kExp, {2})},
                                    Reduction::kMax};
  EXPECT_EQ(operations_per_point(expression),
            (std::vector<OperationCount>{
                {OperationKind::kSub, 1}, {OperationKind::kMax, 1}, {OperationKind::kExp, 1}}));
}

TEST(OperationsPerPoint, CountAChoiceAsOneOperation) {
  const ScalarExpression expression{
      {access(0), access(1), access(2), operation(OperationKind::kSelect, {0, 1, 2})},
      Reduction::kNone};
  EXPECT_EQ(operations_per_point(expression),
            (std::vector<OperationCount>{{OperationKind::kSelect, 1}}));
}

TEST(OperationsPerPoint, CountABareAccessAsOneCopy) {
  EXPECT_EQ(operations_per_point({{access(0)}, Reduction::kNone}),
            (std::vector<OperationCount>{{OperationKind::kCopy, 1}}));
}

}  // namespace
}  // namespace sluice
