#include "sluice/support/expression.h"

#include <algorithm>
#include <cmath>

#include "support/expression_tree.h"

namespace sluice {
namespace {

/// What a name is replaced by; null: nothing.
using Lookup = std::function<ExpressionPointer(const NameReference&, std::size_t offset)>;

bool is_literal(const ExpressionNode& node) {
  return std::holds_alternative<NumberLiteral>(node.kind) ||
         std::holds_alternative<BoolLiteral>(node.kind);
}

/// A node all of whose children are literals becomes one, where it has a value.
ExpressionPointer folded(const ExpressionPointer& node) {
  if (std::holds_alternative<NameReference>(node->kind) ||
      std::holds_alternative<ActionField>(node->kind) ||
      std::holds_alternative<SetLiteral>(node->kind) ||
      std::holds_alternative<ActionReduction>(node->kind) || is_literal(*node))
    return node;
  bool all_literal = true;
  for_each_child(
      *node, [&](const ExpressionNode& child) { all_literal = all_literal && is_literal(child); });
  if (!all_literal) return node;
  const auto value = evaluate_expression(*node, {});
  const auto dimension = dimension_of_expression(*node);
  if (!value || !dimension) return node;
  if (const double* number = std::get_if<double>(&*value))
    return make_expression_node(NumberLiteral{*number, *dimension}, node->offset);
  if (const bool* truth = std::get_if<bool>(&*value))
    return make_expression_node(BoolLiteral{*truth}, node->offset);
  return node;
}

ExpressionPointer bound(const ExpressionPointer& node, const Lookup& lookup) {
  if (const auto* reference = std::get_if<NameReference>(&node->kind)) {
    const ExpressionPointer value = lookup ? lookup(*reference, node->offset) : nullptr;
    return value ? value : node;
  }
  auto children = with_children(
      node->kind, [&](const ExpressionPointer& child) { return bound(child, lookup); });
  return folded(make_expression_node(std::move(children), node->offset));
}

ExpressionPointer clocked(const ExpressionPointer& node, double clock_hz) {
  if (const auto* number = std::get_if<NumberLiteral>(&node->kind)) {
    if (!number->dimension || number->dimension->cycle == 0) return node;
    NumberLiteral seconds = *number;
    for (int i = 0; i < std::abs(number->dimension->cycle); ++i)
      seconds.value =
          number->dimension->cycle > 0 ? seconds.value / clock_hz : seconds.value * clock_hz;
    seconds.dimension->second += seconds.dimension->cycle;
    seconds.dimension->cycle = 0;
    return make_expression_node(seconds, node->offset);
  }
  return make_expression_node(
      with_children(node->kind,
                    [&](const ExpressionPointer& child) { return clocked(child, clock_hz); }),
      node->offset);
}

}  // namespace

void collect_names(const ExpressionNode& node, std::vector<std::string>& names) {
  if (const auto* reference = std::get_if<NameReference>(&node.kind))
    if (std::find(names.begin(), names.end(), reference->name) == names.end())
      names.push_back(reference->name);
  for_each_child(node, [&](const ExpressionNode& child) { collect_names(child, names); });
}

const ExpressionNode& Expression::root() const {
  static const ExpressionNode zero{NumberLiteral{}, 0, 1};
  return root_ ? *root_ : zero;
}

tl::expected<Expression, ExpressionError> Expression::parse(std::string_view text) {
  auto root = parse_expression(text);
  if (!root) return tl::unexpected(root.error());
  return Expression(*root);
}

Expression Expression::literal(double value) {
  return Expression(make_expression_node(NumberLiteral{value, {}}, 0));
}

tl::expected<ExpressionValue, ExpressionError> Expression::evaluate(
    const ExpressionScope& scope) const {
  return evaluate_expression(root(), scope);
}

tl::expected<std::optional<Dimension>, ExpressionError> Expression::dimension() const {
  return dimension_of_expression(root());
}

Expression Expression::with_clock(double clock_hz) const {
  return root_ ? Expression(clocked(root_, clock_hz)) : Expression();
}

std::optional<double> Expression::constant() const {
  if (!root_) return 0.0;
  const ExpressionPointer node = bound(root_, {});
  const auto* number = std::get_if<NumberLiteral>(&node->kind);
  return number ? std::optional(number->value) : std::nullopt;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  collect_names(root(), names);
  return names;
}

Expression Expression::bind(
    const std::function<std::optional<ExpressionValue>(const std::string&)>& lookup) const {
  if (!root_) return {};
  return Expression(bound(root_, [&](const NameReference& reference, std::size_t offset) {
    const auto value = lookup ? lookup(reference.name) : std::nullopt;
    if (!value) return ExpressionPointer();
    if (const double* number = std::get_if<double>(&*value))
      return make_expression_node(NumberLiteral{*number, {}}, offset);
    if (const bool* truth = std::get_if<bool>(&*value))
      return make_expression_node(BoolLiteral{*truth}, offset);
    return ExpressionPointer();
  }));
}

Expression Expression::substitute(
    const std::function<std::optional<Expression>(const std::string&)>& lookup) const {
  if (!root_) return {};
  return Expression(bound(root_, [&](const NameReference& reference, std::size_t) {
    const auto value = lookup(reference.name);
    if (!value) return ExpressionPointer();
    return value->root_ ? value->root_ : make_expression_node(NumberLiteral{}, 0);
  }));
}

std::optional<std::vector<std::vector<double>>> Expression::as_max_of_linear(
    const ExpressionScope& scope) const {
  return max_of_linear(root(), scope);
}

std::string Expression::to_string() const { return print_expression(root()); }

}  // namespace sluice
