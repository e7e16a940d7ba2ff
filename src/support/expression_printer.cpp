#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "support/expression_tree.h"

namespace sluice {
namespace {

// Binding strengths, in Python's order.
enum Strength : int {
  kConditionalStrength = 0,
  kOrStrength,
  kAndStrength,
  kNotStrength,
  kComparisonStrength,
  kUnionStrength,
  kIntersectionStrength,
  kSumStrength,
  kProductStrength,
  kUnaryStrength,
  kPowerStrength,
  kPrimaryStrength
};

struct BinaryStyle {
  std::string_view text;
  int strength;
};

BinaryStyle style_of(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kOr:
      return {"or", kOrStrength};
    case BinaryOperator::kAnd:
      return {"and", kAndStrength};
    case BinaryOperator::kUnion:
      return {"|", kUnionStrength};
    case BinaryOperator::kIntersection:
      return {"&", kIntersectionStrength};
    case BinaryOperator::kAdd:
      return {"+", kSumStrength};
    case BinaryOperator::kSubtract:
      return {"-", kSumStrength};
    case BinaryOperator::kMultiply:
      return {"*", kProductStrength};
    case BinaryOperator::kDivide:
      return {"/", kProductStrength};
    case BinaryOperator::kFloorDivide:
      return {"//", kProductStrength};
    case BinaryOperator::kModulo:
      return {"%", kProductStrength};
    case BinaryOperator::kPower:
      return {"**", kPowerStrength};
  }
  return {};
}

std::string_view text_of(ComparisonOperator op) {
  switch (op) {
    case ComparisonOperator::kLess:
      return "<";
    case ComparisonOperator::kLessEqual:
      return "<=";
    case ComparisonOperator::kGreater:
      return ">";
    case ComparisonOperator::kGreaterEqual:
      return ">=";
    case ComparisonOperator::kEqual:
      return "==";
    case ComparisonOperator::kNotEqual:
      return "!=";
  }
  return {};
}

int strength_of(const ExpressionNode::Kind& kind) {
  return std::visit(
      Overloaded{
          [](const NumberLiteral& n) {
            return std::signbit(n.value) ? int{kUnaryStrength} : int{kPrimaryStrength};
          },
          [](const Unary& n) {
            return n.op == UnaryOperator::kNot ? int{kNotStrength} : int{kUnaryStrength};
          },
          [](const Binary& n) { return style_of(n.op).strength; },
          [](const Comparison&) { return int{kComparisonStrength}; },
          [](const Conditional&) { return int{kConditionalStrength}; },
          [](const auto&) { return int{kPrimaryStrength}; },
      },
      kind);
}

class Printer {
 public:
  std::string print(const ExpressionNode& node) {
    return std::visit([&](const auto& kind) { return text(kind); }, node.kind);
  }

 private:
  /// In parentheses where it binds less than `strength`.
  std::string at_least(int strength, const ExpressionNode& node) {
    const std::string inner = print(node);
    return strength_of(node.kind) < strength ? "(" + inner + ")" : inner;
  }

  std::string text(const NumberLiteral& n) { return fmt::format("{}", n.value); }
  std::string text(const BoolLiteral& n) { return n.value ? "true" : "false"; }
  std::string text(const NameReference& n) { return n.name; }
  std::string text(const ActionField& n) { return action_ + "." + n.field; }

  std::string text(const Unary& n) {
    switch (n.op) {
      case UnaryOperator::kNegate:
        return "-" + at_least(kUnaryStrength, *n.operand);
      case UnaryOperator::kPlus:
        return "+" + at_least(kUnaryStrength, *n.operand);
      case UnaryOperator::kComplement:
        return "~" + at_least(kUnaryStrength, *n.operand);
      case UnaryOperator::kNot:
        return "not " + at_least(kNotStrength, *n.operand);
    }
    return {};
  }

  std::string text(const Binary& n) {
    const BinaryStyle style = style_of(n.op);
    const bool power = n.op == BinaryOperator::kPower;
    const int left = power ? int{kPrimaryStrength} : style.strength;
    const int right = power ? int{kUnaryStrength} : style.strength + 1;
    return fmt::format("{} {} {}", at_least(left, *n.left), style.text, at_least(right, *n.right));
  }

  std::string text(const Comparison& n) {
    std::string result = at_least(kUnionStrength, *n.operands[0]);
    for (std::size_t i = 0; i < n.operators.size(); ++i)
      result += fmt::format(" {} {}", text_of(n.operators[i]),
                            at_least(kUnionStrength, *n.operands[i + 1]));
    return result;
  }

  std::string text(const Conditional& n) {
    return fmt::format("{} if {} else {}", at_least(kOrStrength, *n.value),
                       at_least(kOrStrength, *n.condition), print(*n.otherwise));
  }

  std::string text(const Call& n) {
    std::string arguments;
    for (const ExpressionPointer& argument : n.arguments)
      arguments += (arguments.empty() ? "" : ", ") + print(*argument);
    return fmt::format("{}({})", function_name(n.function), arguments);
  }

  std::string text(const ActionReduction& n) {
    std::vector<std::string> names;
    collect_names(*n.body, names);
    action_ = "a";
    const auto is_taken = [this](const std::string& name) {
      return name == action_ || name.starts_with(action_ + ".");
    };
    while (std::any_of(names.begin(), names.end(), is_taken)) action_ += "_";
    return fmt::format("{}({} for {} in actions)", function_name(n.function), print(*n.body),
                       action_);
  }

  std::string text(const SetLiteral& n) { return fmt::format("{{{}}}", fmt::join(n.names, ", ")); }

  std::string action_;  ///< what the reduction that is being printed calls an action
};

struct NamedFunction {
  std::string_view name;
  Function function;
};
constexpr std::array<NamedFunction, 9> kFunctions = {{{"len", Function::kLen},
                                                      {"min", Function::kMin},
                                                      {"max", Function::kMax},
                                                      {"sum", Function::kSum},
                                                      {"ceil", Function::kCeil},
                                                      {"floor", Function::kFloor},
                                                      {"log2", Function::kLog2},
                                                      {"sqrt", Function::kSqrt},
                                                      {"abs", Function::kAbs}}};

}  // namespace

std::string print_expression(const ExpressionNode& node) { return Printer().print(node); }

std::string_view function_name(Function function) {
  for (const NamedFunction& known : kFunctions)
    if (known.function == function) return known.name;
  return {};
}

std::optional<Function> function_from_name(std::string_view name) {
  for (const NamedFunction& known : kFunctions)
    if (known.name == name) return known.function;
  return std::nullopt;
}

}  // namespace sluice
