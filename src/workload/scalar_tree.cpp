#include "workload/scalar_tree.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sluice/support/error.h"

namespace sluice {
namespace {

bool is_constant(const ScalarTree& tree) { return tree.kind == ScalarNode::Kind::kConstant; }

ScalarTree operation_of(OperationKind operation, std::vector<ScalarTree> arguments) {
  ScalarTree tree;
  tree.kind = ScalarNode::Kind::kOperation;
  tree.operation = operation;
  tree.arguments = std::move(arguments);
  return tree;
}

ScalarTree subtree(const Einsum& einsum, std::uint32_t at) {
  const ScalarNode& node = einsum.expression.nodes[at];
  if (node.kind == ScalarNode::Kind::kConstant) return constant_of(node.constant);
  if (node.kind == ScalarNode::Kind::kAccess) return operand_of(einsum.accesses[node.access]);
  std::vector<ScalarTree> arguments;
  for (const std::uint32_t operand : node.operands) arguments.push_back(subtree(einsum, operand));
  return operation_of(node.operation, std::move(arguments));
}

/// d(f)/d(its argument x), given both.
ScalarTree slope(OperationKind operation, const ScalarTree& f, const ScalarTree& x) {
  switch (operation) {
    case OperationKind::kNeg:
      return constant_of(-1);
    case OperationKind::kAbs:
      return difference_of(product_of(constant_of(2), applied(OperationKind::kStep, x)),
                           constant_of(1));
    case OperationKind::kExp:
      return f;
    case OperationKind::kLog:
      return quotient_of(constant_of(1), x);
    case OperationKind::kSqrt:
      return quotient_of(constant_of(0.5), f);
    case OperationKind::kRsqrt:
      return quotient_of(product_of(constant_of(-0.5), f), x);
    case OperationKind::kTanh:
      return difference_of(constant_of(1), applied(OperationKind::kSquare, f));
    case OperationKind::kSigmoid:
      return product_of(f, difference_of(constant_of(1), f));
    case OperationKind::kErf:
      return product_of(constant_of(2 * std::numbers::inv_sqrtpi),
                        applied(OperationKind::kExp,
                                applied(OperationKind::kNeg, applied(OperationKind::kSquare, x))));
    case OperationKind::kSin:
      return applied(OperationKind::kCos, x);
    case OperationKind::kCos:
      return applied(OperationKind::kNeg, applied(OperationKind::kSin, x));
    case OperationKind::kSquare:
      return product_of(constant_of(2), x);
    case OperationKind::kRelu:
      return applied(OperationKind::kStep, x);
    case OperationKind::kStep:
      return constant_of(0);
    default:
      break;
  }
  SLUICE_CHECK(operation == OperationKind::kCopy, "an operation without a derivative");
  return constant_of(1);
}

/// The same by the two arguments of an operation.
std::pair<ScalarTree, ScalarTree> slopes(OperationKind operation, const ScalarTree& f,
                                         const ScalarTree& a, const ScalarTree& b) {
  const auto takes_first = [](const ScalarTree& larger, const ScalarTree& smaller) {
    return applied(OperationKind::kStep, difference_of(larger, smaller));
  };
  switch (operation) {
    case OperationKind::kAdd:
      return {constant_of(1), constant_of(1)};
    case OperationKind::kSub:
      return {constant_of(1), constant_of(-1)};
    case OperationKind::kMul:
      return {b, a};
    case OperationKind::kDiv:
      return {quotient_of(constant_of(1), b), applied(OperationKind::kNeg, quotient_of(f, b))};
    case OperationKind::kMax: {
      const ScalarTree first = takes_first(a, b);
      return {first, difference_of(constant_of(1), first)};
    }
    case OperationKind::kMin: {
      const ScalarTree first = takes_first(b, a);
      return {first, difference_of(constant_of(1), first)};
    }
    default:
      break;
  }
  throw InternalError("an operation of two arguments without a derivative");
}

/// Puts a tree down as nodes, arguments first, and what it reads as accesses.
std::uint32_t put_down(const ScalarTree& tree, Einsum* einsum) {
  ScalarNode node;
  node.kind = tree.kind;
  node.constant = tree.constant;
  node.operation = tree.operation;
  if (tree.kind == ScalarNode::Kind::kAccess) {
    const auto known = std::find(einsum->accesses.begin(), einsum->accesses.end(), tree.operand);
    node.access = static_cast<std::uint32_t>(known - einsum->accesses.begin());
    if (known == einsum->accesses.end()) einsum->accesses.push_back(tree.operand);
  }
  for (const ScalarTree& argument : tree.arguments)
    node.operands.push_back(put_down(argument, einsum));
  einsum->expression.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(einsum->expression.nodes.size() - 1);
}

}  // namespace

ScalarTree constant_of(double value) {
  ScalarTree tree;
  tree.constant = value;
  return tree;
}

ScalarTree operand_of(TensorAccess access) {
  ScalarTree tree;
  tree.kind = ScalarNode::Kind::kAccess;
  tree.operand = std::move(access);
  tree.operand.is_output = false;
  return tree;
}

ScalarTree sum_of(ScalarTree a, ScalarTree b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  if (is_constant(a) && is_constant(b)) return constant_of(a.constant + b.constant);
  return operation_of(OperationKind::kAdd, {std::move(a), std::move(b)});
}

ScalarTree difference_of(ScalarTree a, ScalarTree b) {
  if (b.is(0)) return a;
  if (a.is(0)) return applied(OperationKind::kNeg, std::move(b));
  if (is_constant(a) && is_constant(b)) return constant_of(a.constant - b.constant);
  return operation_of(OperationKind::kSub, {std::move(a), std::move(b)});
}

ScalarTree product_of(ScalarTree a, ScalarTree b) {
  if (a.is(0) || b.is(0)) return constant_of(0);
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (is_constant(a) && is_constant(b)) return constant_of(a.constant * b.constant);
  const auto is_inverse = [](const ScalarTree& tree) {
    return tree.kind == ScalarNode::Kind::kOperation && tree.operation == OperationKind::kDiv &&
           tree.arguments.front().is(1);
  };
  if (is_inverse(b)) return quotient_of(std::move(a), std::move(b.arguments.back()));
  if (a.is(-1)) return applied(OperationKind::kNeg, std::move(b));
  if (b.is(-1)) return applied(OperationKind::kNeg, std::move(a));
  return operation_of(OperationKind::kMul, {std::move(a), std::move(b)});
}

ScalarTree quotient_of(ScalarTree a, ScalarTree b) {
  if (a.is(0) || b.is(1)) return a;
  return operation_of(OperationKind::kDiv, {std::move(a), std::move(b)});
}

ScalarTree choice_of(ScalarTree condition, ScalarTree a, ScalarTree b) {
  return operation_of(OperationKind::kSelect, {std::move(condition), std::move(a), std::move(b)});
}

ScalarTree applied(OperationKind operation, ScalarTree argument) {
  if (operation == OperationKind::kNeg && is_constant(argument))
    return constant_of(-argument.constant);
  return operation_of(operation, {std::move(argument)});
}

void for_each_operand(ScalarTree* tree, const std::function<void(TensorAccess*)>& change) {
  if (tree->kind == ScalarNode::Kind::kAccess) change(&tree->operand);
  for (ScalarTree& argument : tree->arguments) for_each_operand(&argument, change);
}

ScalarTree tree_of(const Einsum& einsum) {
  return subtree(einsum, static_cast<std::uint32_t>(einsum.expression.nodes.size() - 1));
}

std::vector<std::optional<ScalarTree>> derivatives(const Einsum& einsum, const ScalarTree& upstream,
                                                   const std::optional<ScalarTree>& result) {
  const std::vector<ScalarNode>& nodes = einsum.expression.nodes;
  const auto root = static_cast<std::uint32_t>(nodes.size() - 1);
  const auto value = [&](std::uint32_t node) {
    return node == root && result ? *result : subtree(einsum, node);
  };
  std::vector<ScalarTree> adjoint(nodes.size(), constant_of(0));
  adjoint[root] = upstream;
  std::vector<std::optional<ScalarTree>> by_access(einsum.accesses.size());
  const auto add = [](ScalarTree tree, ScalarTree* to) { *to = sum_of(*to, std::move(tree)); };
  for (std::uint32_t n = root + 1; n-- > 0;) {
    const ScalarNode& node = nodes[n];
    if (adjoint[n].is(0) || node.kind == ScalarNode::Kind::kConstant) continue;
    if (node.kind == ScalarNode::Kind::kAccess) {
      std::optional<ScalarTree>& own = by_access[node.access];
      own = own ? sum_of(*own, adjoint[n]) : adjoint[n];
    } else if (node.operands.size() == 1) {
      const std::uint32_t x = node.operands.front();
      add(product_of(adjoint[n], slope(node.operation, value(n), value(x))), &adjoint[x]);
    } else if (node.operation == OperationKind::kSelect) {
      const ScalarTree condition = value(node.operands[0]);
      add(choice_of(condition, adjoint[n], constant_of(0)), &adjoint[node.operands[1]]);
      add(choice_of(condition, constant_of(0), adjoint[n]), &adjoint[node.operands[2]]);
    } else {
      const std::uint32_t a = node.operands.front(), b = node.operands.back();
      auto [by_a, by_b] = slopes(node.operation, value(n), value(a), value(b));
      add(product_of(adjoint[n], std::move(by_a)), &adjoint[a]);
      add(product_of(adjoint[n], std::move(by_b)), &adjoint[b]);
    }
  }
  return by_access;
}

Einsum einsum_of(std::string name, TensorAccess output, const ScalarTree& tree) {
  Einsum einsum;
  einsum.name = std::move(name);
  put_down(tree, &einsum);
  output.is_output = true;
  einsum.accesses.push_back(std::move(output));
  return einsum;
}

}  // namespace sluice
