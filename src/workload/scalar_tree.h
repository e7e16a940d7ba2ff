#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice {

/// A right-hand side that is being built: operands stand in it as accesses.
struct ScalarTree {
  ScalarNode::Kind kind = ScalarNode::Kind::kConstant;
  double constant = 0;
  TensorAccess operand;                           ///< kAccess
  OperationKind operation = OperationKind::kAdd;  ///< kOperation
  std::vector<ScalarTree> arguments;

  bool is(double value) const { return kind == ScalarNode::Kind::kConstant && constant == value; }
};

ScalarTree constant_of(double value);
ScalarTree operand_of(TensorAccess access);
/// With what is known about 0, 1 and constants put in.
ScalarTree sum_of(ScalarTree a, ScalarTree b);
ScalarTree difference_of(ScalarTree a, ScalarTree b);
ScalarTree product_of(ScalarTree a, ScalarTree b);
ScalarTree quotient_of(ScalarTree a, ScalarTree b);
/// `a` where the condition is not 0, else `b`.
ScalarTree choice_of(ScalarTree condition, ScalarTree a, ScalarTree b);
ScalarTree applied(OperationKind operation, ScalarTree argument);

/// Changes every operand of a right-hand side.
void for_each_operand(ScalarTree* tree, const std::function<void(TensorAccess*)>& change);

/// An Einsum's right-hand side.
ScalarTree tree_of(const Einsum& einsum);

/// Derivatives of a right-hand side, times `upstream`, by each of the Einsum's accesses; nothing
/// where one is 0. `result`: where the value of the right-hand side can be read.
std::vector<std::optional<ScalarTree>> derivatives(const Einsum& einsum, const ScalarTree& upstream,
                                                   const std::optional<ScalarTree>& result);

/// The Einsum `output = tree`: a sum where points meet in one element.
Einsum einsum_of(std::string name, TensorAccess output, const ScalarTree& tree);

}  // namespace sluice
