#include <algorithm>
#include <cmath>

#include "support/expression_tree.h"

namespace sluice {
namespace {

using Row = std::vector<double>;
/// Maximum over linear forms; nullopt: not of this shape.
using Rows = std::optional<std::vector<Row>>;

constexpr std::size_t kMostRows = 256;

class Linearizer {
 public:
  explicit Linearizer(const ExpressionScope& scope) : scope_(scope) {}

  Rows rows(const ExpressionNode& node) {
    return std::visit(Overloaded{
                          [&](const ActionField& n) { return field(n); },
                          [&](const Unary& n) { return unary(n); },
                          [&](const Binary& n) { return binary(n); },
                          [&](const Call& n) { return call(n); },
                          [&](const ActionReduction& n) { return reduction(n); },
                          [&](const Conditional& n) { return conditional(n); },
                          [&](const auto&) { return constant_zero(node); },
                      },
                      node.kind);
  }

 private:
  bool depends_on_calls(const ExpressionNode& node) {
    if (const auto* field = std::get_if<ActionField>(&node.kind)) return field->field == "n_calls";
    bool depends = false;
    for_each_child(
        node, [&](const ExpressionNode& child) { depends = depends || depends_on_calls(child); });
    return depends;
  }

  /// The value of a node without n_calls, for the action that is being run over.
  std::optional<ExpressionValue> value(const ExpressionNode& node) {
    if (depends_on_calls(node)) return std::nullopt;
    ExpressionScope scope = scope_;
    if (!action_) {
      auto result = evaluate_expression(node, scope);
      return result ? std::optional(*result) : std::nullopt;
    }
    // A sum over this one action is the body's value for it.
    scope.n_actions = 1;
    scope.action_field = [this](std::size_t, const std::string& name) {
      return scope_.action_field ? scope_.action_field(*action_, name) : std::nullopt;
    };
    const auto body = std::make_shared<ExpressionNode>(node);
    auto result =
        evaluate_expression(ExpressionNode{.kind = ActionReduction{Function::kSum, body}}, scope);
    return result ? std::optional(*result) : std::nullopt;
  }

  std::optional<double> number(const ExpressionNode& node) {
    const auto result = value(node);
    if (!result || !std::holds_alternative<double>(*result)) return std::nullopt;
    return std::get<double>(*result);
  }

  Row zeros() const { return Row(scope_.n_actions, 0.0); }

  /// A linear form has no constant term: only 0 is one.
  Rows constant_zero(const ExpressionNode& node) {
    if (number(node) == 0.0) return std::vector<Row>{zeros()};
    return std::nullopt;
  }

  Rows field(const ActionField& n) {
    if (!action_ || n.field != "n_calls") return std::nullopt;
    Row row = zeros();
    row[*action_] = 1;
    return std::vector<Row>{row};
  }

  static Rows scaled(Rows rows, double factor) {
    if (!rows || !std::isfinite(factor)) return std::nullopt;
    if (factor < 0 && rows->size() > 1) return std::nullopt;  // a minimum
    for (Row& row : *rows)
      for (double& coefficient : row) coefficient *= factor;
    return rows;
  }

  static Rows added(const Rows& a, const Rows& b) {
    if (!a || !b || a->size() * b->size() > kMostRows) return std::nullopt;
    std::vector<Row> result;
    for (const Row& left : *a) {
      for (const Row& right : *b) {
        Row row = left;
        for (std::size_t i = 0; i < row.size(); ++i) row[i] += right[i];
        result.push_back(std::move(row));
      }
    }
    return result;
  }

  static Rows larger(const Rows& a, const Rows& b) {
    if (!a || !b || a->size() + b->size() > kMostRows) return std::nullopt;
    std::vector<Row> result = *a;
    for (const Row& row : *b)
      if (std::find(result.begin(), result.end(), row) == result.end()) result.push_back(row);
    return result;
  }

  Rows unary(const Unary& n) {
    if (n.op == UnaryOperator::kNegate) return scaled(rows(*n.operand), -1);
    if (n.op == UnaryOperator::kPlus) return rows(*n.operand);
    return std::nullopt;
  }

  Rows binary(const Binary& n) {
    switch (n.op) {
      case BinaryOperator::kAdd:
        return added(rows(*n.left), rows(*n.right));
      case BinaryOperator::kSubtract:
        return added(rows(*n.left), scaled(rows(*n.right), -1));
      case BinaryOperator::kMultiply:
        if (const auto factor = number(*n.left)) return scaled(rows(*n.right), *factor);
        if (const auto factor = number(*n.right)) return scaled(rows(*n.left), *factor);
        return std::nullopt;
      case BinaryOperator::kDivide:
        if (const auto divisor = number(*n.right); divisor && *divisor != 0)
          return divided(rows(*n.left), *divisor);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  /// By division, not by a rounded reciprocal: coefficient 1 over a throughput stays exact.
  static Rows divided(Rows rows, double divisor) {
    if (!rows || (divisor < 0 && rows->size() > 1)) return std::nullopt;
    for (Row& row : *rows)
      for (double& coefficient : row) coefficient /= divisor;
    return rows;
  }

  Rows call(const Call& n) {
    if (n.function != Function::kMax) return std::nullopt;
    Rows result = rows(*n.arguments[0]);
    for (std::size_t i = 1; i < n.arguments.size(); ++i)
      result = larger(result, rows(*n.arguments[i]));
    return result;
  }

  Rows reduction(const ActionReduction& n) {
    if (action_ || n.function == Function::kMin) return std::nullopt;
    Rows result;
    for (std::size_t i = 0; i < scope_.n_actions; ++i) {
      action_ = i;
      const Rows term = rows(*n.body);
      if (i == 0)
        result = term;
      else
        result = n.function == Function::kSum ? added(result, term) : larger(result, term);
    }
    action_.reset();
    return scope_.n_actions == 0 ? Rows(std::vector<Row>{zeros()}) : result;
  }

  Rows conditional(const Conditional& n) {
    const auto condition = value(*n.condition);
    if (!condition || !std::holds_alternative<bool>(*condition)) return std::nullopt;
    return rows(std::get<bool>(*condition) ? *n.value : *n.otherwise);
  }

  const ExpressionScope& scope_;
  std::optional<std::size_t> action_;
};

}  // namespace

std::optional<std::vector<std::vector<double>>> max_of_linear(const ExpressionNode& node,
                                                              const ExpressionScope& scope) {
  return Linearizer(scope).rows(node);
}

}  // namespace sluice
