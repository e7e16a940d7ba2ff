#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/expression_tree.h"

namespace sluice {
namespace {

const char* type_name(const ExpressionValue& value) {
  if (std::holds_alternative<double>(value)) return "a number";
  if (std::holds_alternative<bool>(value)) return "true or false";
  return "a set";
}

[[noreturn]] void fail(const ExpressionNode& node, std::string message, std::string hint = {}) {
  throw ExpressionError{std::move(message), node.offset, std::move(hint)};
}

/// Walks the tree; a mistake is thrown inside and returned by evaluate_expression.
class Evaluator {
 public:
  explicit Evaluator(const ExpressionScope& scope) : scope_(scope) {}

  ExpressionValue value(const ExpressionNode& node) {
    return std::visit([&](const auto& kind) { return evaluate(node, kind); }, node.kind);
  }

 private:
  template <class T>
  T as(const ExpressionNode& node, const char* wanted) {
    const ExpressionValue result = value(node);
    if (const T* typed = std::get_if<T>(&result)) return *typed;
    fail(node, fmt::format("'{}' is {}, but {} is needed here", print_expression(node),
                           type_name(result), wanted));
  }
  double number(const ExpressionNode& node) { return as<double>(node, "a number"); }
  /// As in Python, a set is true unless it is empty.
  bool truth(const ExpressionNode& node) {
    const ExpressionValue result = value(node);
    if (const NameSet* names = std::get_if<NameSet>(&result)) return names->bits != 0;
    if (const bool* is_true = std::get_if<bool>(&result)) return *is_true;
    fail(node, fmt::format("'{}' is {}, but true or false is needed here", print_expression(node),
                           type_name(result)));
  }
  NameSet set(const ExpressionNode& node) { return as<NameSet>(node, "a set"); }

  static double checked(const ExpressionNode& node, double result) {
    if (std::isnan(result))
      fail(node, fmt::format("'{}' has no value (NaN)", print_expression(node)));
    return result;
  }

  ExpressionValue evaluate(const ExpressionNode&, const NumberLiteral& n) { return n.value; }
  ExpressionValue evaluate(const ExpressionNode&, const BoolLiteral& n) { return n.value; }

  ExpressionValue evaluate(const ExpressionNode& node, const NameReference& n) {
    if (scope_.lookup) {
      if (auto found = scope_.lookup(n.name)) return *found;
      constexpr std::string_view kTensors = ".tensors";
      if (n.name.ends_with(kTensors)) {
        const auto found = scope_.lookup(n.name.substr(0, n.name.size() - kTensors.size()));
        if (found && std::holds_alternative<NameSet>(*found)) return *found;
      }
    }
    fail(node, fmt::format("unknown name '{}'", n.name));
  }

  ExpressionValue evaluate(const ExpressionNode& node, const ActionField& n) {
    if (action_ && scope_.action_field)
      if (const auto found = scope_.action_field(*action_, n.field)) return *found;
    fail(node, fmt::format("an action has no field '{}'", n.field),
         "fields are n_calls, throughput, energy and bits_per_action");
  }

  ExpressionValue evaluate(const ExpressionNode& node, const Unary& n) {
    switch (n.op) {
      case UnaryOperator::kNegate:
        return -number(*n.operand);
      case UnaryOperator::kPlus:
        return number(*n.operand);
      case UnaryOperator::kNot:
        return !truth(*n.operand);
      case UnaryOperator::kComplement:
        return NameSet{scope_.universe.bits & ~set(*n.operand).bits};
    }
    fail(node, "unknown operator");
  }

  ExpressionValue evaluate(const ExpressionNode& node, const Binary& n) {
    switch (n.op) {
      case BinaryOperator::kOr:
        return truth(*n.left) || truth(*n.right);
      case BinaryOperator::kAnd:
        return truth(*n.left) && truth(*n.right);
      case BinaryOperator::kUnion:
        return NameSet{set(*n.left).bits | set(*n.right).bits};
      case BinaryOperator::kIntersection:
        return NameSet{set(*n.left).bits & set(*n.right).bits};
      case BinaryOperator::kSubtract:
        return difference(node, n);
      default:
        return checked(node, arithmetic(node, n));
    }
  }

  /// Of two numbers or of two sets.
  ExpressionValue difference(const ExpressionNode& node, const Binary& n) {
    const ExpressionValue left = value(*n.left);
    if (const NameSet* names = std::get_if<NameSet>(&left))
      return NameSet{names->bits & ~set(*n.right).bits};
    return checked(node, number(*n.left) - number(*n.right));
  }

  double arithmetic(const ExpressionNode& node, const Binary& n) {
    const double a = number(*n.left);
    const double b = number(*n.right);
    switch (n.op) {
      case BinaryOperator::kAdd:
        return a + b;
      case BinaryOperator::kMultiply:
        return a * b;
      case BinaryOperator::kPower:
        return std::pow(a, b);
      default:
        break;
    }
    if (b == 0) fail(node, "division by zero");
    switch (n.op) {
      case BinaryOperator::kDivide:
        return a / b;
      case BinaryOperator::kFloorDivide:
        return std::floor(a / b);
      default:
        return a - b * std::floor(a / b);
    }
  }

  ExpressionValue evaluate(const ExpressionNode& node, const Comparison& n) {
    for (std::size_t i = 0; i < n.operators.size(); ++i)
      if (!holds(node, n.operators[i], value(*n.operands[i]), value(*n.operands[i + 1])))
        return false;
    return true;
  }

  static bool holds(const ExpressionNode& node, ComparisonOperator op, const ExpressionValue& a,
                    const ExpressionValue& b) {
    if (a.index() != b.index())
      fail(node, fmt::format("{} cannot be compared with {}", type_name(a), type_name(b)));
    if (std::holds_alternative<double>(a))
      return compare(op, std::get<double>(a), std::get<double>(b));
    if (op == ComparisonOperator::kEqual) return a == b;
    if (op == ComparisonOperator::kNotEqual) return a != b;
    if (std::holds_alternative<bool>(a)) fail(node, "truth values have no order");
    return compare_sets(op, std::get<NameSet>(a), std::get<NameSet>(b));
  }

  static bool compare(ComparisonOperator op, double a, double b) {
    switch (op) {
      case ComparisonOperator::kLess:
        return a < b;
      case ComparisonOperator::kLessEqual:
        return a <= b;
      case ComparisonOperator::kGreater:
        return a > b;
      case ComparisonOperator::kGreaterEqual:
        return a >= b;
      case ComparisonOperator::kEqual:
        return a == b;
      case ComparisonOperator::kNotEqual:
        return a != b;
    }
    return false;
  }

  static bool compare_sets(ComparisonOperator op, NameSet a, NameSet b) {
    const auto subset = [](NameSet x, NameSet y) { return (x.bits & ~y.bits) == 0; };
    switch (op) {
      case ComparisonOperator::kLess:
        return subset(a, b) && a != b;
      case ComparisonOperator::kLessEqual:
        return subset(a, b);
      case ComparisonOperator::kGreater:
        return subset(b, a) && a != b;
      default:
        return subset(b, a);
    }
  }

  ExpressionValue evaluate(const ExpressionNode&, const Conditional& n) {
    return truth(*n.condition) ? value(*n.value) : value(*n.otherwise);
  }

  ExpressionValue evaluate(const ExpressionNode& node, const Call& n) {
    if (n.function == Function::kLen)
      return static_cast<double>(std::popcount(set(*n.arguments[0]).bits));
    double result = number(*n.arguments[0]);
    switch (n.function) {
      case Function::kMin:
        for (const auto& argument : n.arguments) result = std::min(result, number(*argument));
        return result;
      case Function::kMax:
        for (const auto& argument : n.arguments) result = std::max(result, number(*argument));
        return result;
      case Function::kCeil:
        return std::ceil(result);
      case Function::kFloor:
        return std::floor(result);
      case Function::kAbs:
        return std::abs(result);
      case Function::kLog2:
        return logarithm(node, result);
      case Function::kSqrt:
        return checked(node, std::sqrt(result));
      default:
        fail(node, "not a function of numbers");
    }
  }

  static double logarithm(const ExpressionNode& node, double argument) {
    if (argument <= 0) fail(node, fmt::format("log2 of {}", argument));
    return std::log2(argument);
  }

  ExpressionValue evaluate(const ExpressionNode& node, const ActionReduction& n) {
    if (action_) fail(node, "a reduction over the actions inside another one");
    if (!scope_.action_field) fail(node, "there are no actions to run over here");
    std::optional<double> result;
    for (std::size_t i = 0; i < scope_.n_actions; ++i) {
      action_ = i;
      const double term = number(*n.body);
      if (!result)
        result = term;
      else if (n.function == Function::kSum)
        *result += term;
      else
        result = n.function == Function::kMin ? std::min(*result, term) : std::max(*result, term);
    }
    action_.reset();
    if (!result && n.function != Function::kSum) fail(node, "the component has no actions");
    return checked(node, result.value_or(0));
  }

  ExpressionValue evaluate(const ExpressionNode& node, const SetLiteral& n) {
    NameSet names;
    for (const std::string& name : n.names) {
      const auto element = scope_.literal_element ? scope_.literal_element(name) : std::nullopt;
      if (!element)
        fail(node,
             fmt::format("'{}' cannot stand in a set here: it is neither a tensor nor an operation",
                         name));
      names.bits |= element->bits;
    }
    return names;
  }

  const ExpressionScope& scope_;
  std::optional<std::size_t> action_;
};

}  // namespace

tl::expected<ExpressionValue, ExpressionError> evaluate_expression(const ExpressionNode& node,
                                                                   const ExpressionScope& scope) {
  try {
    return Evaluator(scope).value(node);
  } catch (const ExpressionError& error) {
    return tl::unexpected(error);
  }
}

}  // namespace sluice
