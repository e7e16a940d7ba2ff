#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sluice/support/expression.h"

namespace sluice {

using ExpressionPointer = std::shared_ptr<const ExpressionNode>;

struct NumberLiteral {
  double value = 0;
  std::optional<Dimension> dimension;  ///< none where no unit was written
};

struct BoolLiteral {
  bool value = false;
};

/// A plain or dotted name that the scope looks up.
struct NameReference {
  std::string name;
};

/// `a.n_calls` inside a reduction over the actions.
struct ActionField {
  std::string field;
};

enum class UnaryOperator : std::uint8_t { kNegate, kPlus, kComplement, kNot };

struct Unary {
  UnaryOperator op;
  ExpressionPointer operand;
};

enum class BinaryOperator : std::uint8_t {
  kOr,
  kAnd,
  kUnion,
  kIntersection,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower
};

struct Binary {
  BinaryOperator op;
  ExpressionPointer left, right;
};

enum class ComparisonOperator : std::uint8_t {
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual
};

/// `a < b <= c`: one operator fewer than operands.
struct Comparison {
  std::vector<ComparisonOperator> operators;
  std::vector<ExpressionPointer> operands;
};

struct Conditional {
  ExpressionPointer value, condition, otherwise;
};

enum class Function : std::uint8_t { kLen, kMin, kMax, kSum, kCeil, kFloor, kLog2, kSqrt, kAbs };

struct Call {
  Function function;
  std::vector<ExpressionPointer> arguments;
};

/// `max(body for variable in actions)`; the function is kMin, kMax or kSum.
struct ActionReduction {
  Function function;
  ExpressionPointer body;
};

struct SetLiteral {
  std::vector<std::string> names;
};

struct ExpressionNode {
  using Kind = std::variant<NumberLiteral, BoolLiteral, NameReference, ActionField, Unary, Binary,
                            Comparison, Conditional, Call, ActionReduction, SetLiteral>;
  Kind kind;
  std::size_t offset = 0;  ///< of the text that an error about this node points at
  int height = 1;          ///< longest way down to a leaf; bounded, since all walks are recursive
};

inline constexpr int kLargestExpressionHeight = 200;

/// A node with its height computed from the children.
ExpressionPointer make_expression_node(ExpressionNode::Kind kind, std::size_t offset);

/// Replaces every child by `visit(child)`; leaves are returned as they are.
template <class Visit>
ExpressionNode::Kind with_children(const ExpressionNode::Kind& kind, Visit visit);

/// All names that evaluation would look up, each once.
void collect_names(const ExpressionNode& node, std::vector<std::string>& names);

std::string_view function_name(Function function);
std::optional<Function> function_from_name(std::string_view name);

std::string print_expression(const ExpressionNode& node);
tl::expected<ExpressionValue, ExpressionError> evaluate_expression(const ExpressionNode& node,
                                                                   const ExpressionScope& scope);
tl::expected<std::optional<Dimension>, ExpressionError> dimension_of_expression(
    const ExpressionNode& node);
std::optional<std::vector<std::vector<double>>> max_of_linear(const ExpressionNode& node,
                                                              const ExpressionScope& scope);
tl::expected<ExpressionPointer, ExpressionError> parse_expression(std::string_view text);

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

template <class Visit>
ExpressionNode::Kind with_children(const ExpressionNode::Kind& kind, Visit visit) {
  const auto all = [&](const std::vector<ExpressionPointer>& nodes) {
    std::vector<ExpressionPointer> result;
    for (const ExpressionPointer& node : nodes) result.push_back(visit(node));
    return result;
  };
  return std::visit(
      Overloaded{
          [](const NumberLiteral& n) -> ExpressionNode::Kind { return n; },
          [](const BoolLiteral& n) -> ExpressionNode::Kind { return n; },
          [](const NameReference& n) -> ExpressionNode::Kind { return n; },
          [](const ActionField& n) -> ExpressionNode::Kind { return n; },
          [](const SetLiteral& n) -> ExpressionNode::Kind { return n; },
          [&](const Unary& n) -> ExpressionNode::Kind {
            return Unary{n.op, visit(n.operand)};
          },
          [&](const Binary& n) -> ExpressionNode::Kind {
            return Binary{n.op, visit(n.left), visit(n.right)};
          },
          [&](const Comparison& n) -> ExpressionNode::Kind {
            return Comparison{n.operators, all(n.operands)};
          },
          [&](const Conditional& n) -> ExpressionNode::Kind {
            return Conditional{visit(n.value), visit(n.condition), visit(n.otherwise)};
          },
          [&](const Call& n) -> ExpressionNode::Kind {
            return Call{n.function, all(n.arguments)};
          },
          [&](const ActionReduction& n) -> ExpressionNode::Kind {
            return ActionReduction{n.function, visit(n.body)};
          },
      },
      kind);
}

/// Calls `visit(child)` for every child, in order.
template <class Visit>
void for_each_child(const ExpressionNode& node, Visit visit) {
  with_children(node.kind, [&](const ExpressionPointer& child) {
    visit(*child);
    return child;
  });
}

}  // namespace sluice
