#include <fmt/format.h>

#include <cmath>

#include "support/expression_tree.h"

namespace sluice {
namespace {

using MaybeDimension = std::optional<Dimension>;

Dimension combine(const Dimension& a, const Dimension& b, int sign) {
  return {a.joule + sign * b.joule, a.second + sign * b.second, a.bit + sign * b.bit,
          a.metre + sign * b.metre, a.cycle + sign * b.cycle};
}

class DimensionChecker {
 public:
  MaybeDimension of(const ExpressionNode& node) {
    return std::visit([&](const auto& kind) { return check(node, kind); }, node.kind);
  }

 private:
  /// Terms of one sum or comparison: those with units must agree.
  MaybeDimension same(const ExpressionNode& node, const std::vector<ExpressionPointer>& terms) {
    MaybeDimension common;
    for (const ExpressionPointer& term : terms) {
      const MaybeDimension dimension = of(*term);
      if (!dimension) continue;
      if (common && *common != *dimension)
        throw ExpressionError{fmt::format("'{}' mixes {} with {}", print_expression(node),
                                          to_string(*common), to_string(*dimension)),
                              node.offset,
                              {}};
      common = dimension;
    }
    return common;
  }

  MaybeDimension check(const ExpressionNode&, const NumberLiteral& n) { return n.dimension; }
  MaybeDimension check(const ExpressionNode&, const BoolLiteral&) { return {}; }
  MaybeDimension check(const ExpressionNode&, const NameReference&) { return {}; }
  MaybeDimension check(const ExpressionNode&, const ActionField&) { return {}; }
  MaybeDimension check(const ExpressionNode&, const SetLiteral&) { return {}; }
  MaybeDimension check(const ExpressionNode&, const Unary& n) { return of(*n.operand); }
  MaybeDimension check(const ExpressionNode&, const ActionReduction& n) { return of(*n.body); }

  MaybeDimension check(const ExpressionNode& node, const Binary& n) {
    switch (n.op) {
      case BinaryOperator::kMultiply:
        return product(n, 1);
      case BinaryOperator::kDivide:
      case BinaryOperator::kFloorDivide:
        return product(n, -1);
      case BinaryOperator::kPower:
        return of(*n.left);
      default:
        return same(node, {n.left, n.right});
    }
  }

  MaybeDimension product(const Binary& n, int sign) {
    const MaybeDimension left = of(*n.left);
    const MaybeDimension right = of(*n.right);
    if (!left && !right) return {};
    return combine(left.value_or(Dimension{}), right.value_or(Dimension{}), sign);
  }

  MaybeDimension check(const ExpressionNode& node, const Comparison& n) {
    same(node, n.operands);
    return {};
  }
  MaybeDimension check(const ExpressionNode& node, const Conditional& n) {
    of(*n.condition);
    return same(node, {n.value, n.otherwise});
  }
  MaybeDimension check(const ExpressionNode& node, const Call& n) {
    return same(node, n.arguments);
  }
};

}  // namespace

std::string to_string(const Dimension& dimension) {
  if (dimension == Dimension{.second = -1}) return "Hz";
  if (dimension == Dimension{.joule = 1, .second = -1}) return "W";
  std::string above;
  std::string below;
  const auto add = [&](const char* unit, int exponent) {
    std::string& side = exponent > 0 ? above : below;
    if (exponent == 0) return;
    const int magnitude = std::abs(exponent);
    side += (side.empty() ? "" : "*") + std::string(unit) +
            (magnitude > 1 ? std::to_string(magnitude) : std::string());
  };
  add("J", dimension.joule);
  add("bit", dimension.bit);
  add("m", dimension.metre);
  add("s", dimension.second);
  add("cycle", dimension.cycle);
  if (above.empty()) above = "1";
  return below.empty() ? above : above + "/" + below;
}

tl::expected<std::optional<Dimension>, ExpressionError> dimension_of_expression(
    const ExpressionNode& node) {
  try {
    return DimensionChecker().of(node);
  } catch (const ExpressionError& error) {
    return tl::unexpected(error);
  }
}

}  // namespace sluice
