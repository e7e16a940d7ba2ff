#include "sluice/workload/operation.h"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

struct OperationFacts {
  OperationKind kind;
  std::string_view name;
  int arity;
};

constexpr std::array<OperationFacts, kOperationKindCount> kOperations = {{
    {OperationKind::kMulAdd, "mul_add", 0},  {OperationKind::kAdd, "add", 2},
    {OperationKind::kSub, "sub", 2},         {OperationKind::kMul, "mul", 2},
    {OperationKind::kDiv, "div", 2},         {OperationKind::kMin, "min", 2},
    {OperationKind::kMax, "max", 2},         {OperationKind::kNeg, "neg", 1},
    {OperationKind::kAbs, "abs", 1},         {OperationKind::kExp, "exp", 1},
    {OperationKind::kLog, "log", 1},         {OperationKind::kSqrt, "sqrt", 1},
    {OperationKind::kRsqrt, "rsqrt", 1},     {OperationKind::kTanh, "tanh", 1},
    {OperationKind::kSigmoid, "sigmoid", 1}, {OperationKind::kErf, "erf", 1},
    {OperationKind::kSin, "sin", 1},         {OperationKind::kCos, "cos", 1},
    {OperationKind::kSquare, "square", 1},   {OperationKind::kRelu, "relu", 1},
    {OperationKind::kStep, "step", 1},       {OperationKind::kSelect, "select", 3},
    {OperationKind::kCopy, "copy", 0},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kOperations.size(); ++i)
    if (static_cast<std::size_t>(kOperations[i].kind) != i) return false;
  return true;
}
static_assert(is_in_order(), "the table is indexed by kind");

const OperationFacts& facts(OperationKind kind) {
  return kOperations[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view operation_name(OperationKind kind) { return facts(kind).name; }

OperationKind combining_operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::kProduct:
      return OperationKind::kMul;
    case Reduction::kMin:
      return OperationKind::kMin;
    case Reduction::kMax:
      return OperationKind::kMax;
    case Reduction::kSum:
    case Reduction::kNone:
      break;
  }
  return OperationKind::kAdd;
}

std::optional<OperationKind> operation_from_name(std::string_view name) {
  const auto found = std::find_if(kOperations.begin(), kOperations.end(),
                                  [&](const OperationFacts& f) { return f.name == name; });
  if (found == kOperations.end()) return std::nullopt;
  return found->kind;
}

int operation_arity(OperationKind kind) { return facts(kind).arity; }

std::vector<OperationCount> operations_per_point(const ScalarExpression& expression) {
  std::array<std::int64_t, kOperationKindCount> counts{};
  const auto count = [&](OperationKind kind) -> std::int64_t& {
    return counts[static_cast<std::size_t>(kind)];
  };
  for (const ScalarNode& node : expression.nodes)
    if (node.kind == ScalarNode::Kind::kOperation) ++count(node.operation);
  const bool is_product = !expression.nodes.empty() &&
                          expression.nodes.back().kind == ScalarNode::Kind::kOperation &&
                          expression.nodes.back().operation == OperationKind::kMul;
  if (expression.reduction == Reduction::kSum && is_product) {
    --count(OperationKind::kMul);
    ++count(OperationKind::kMulAdd);
  } else if (expression.reduction != Reduction::kNone) {
    ++count(combining_operation(expression.reduction));
  }
  std::vector<OperationCount> result;
  for (const OperationFacts& known : kOperations)
    if (count(known.kind) > 0) result.push_back({known.kind, count(known.kind)});
  if (result.empty()) result.push_back({OperationKind::kCopy, 1});
  return result;
}

}  // namespace sluice
