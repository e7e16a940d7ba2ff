#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

using Pair = Expr (*)(const Expr&, const Expr&);

template <Pair Function>
void compare(NodeContext& context) {
  context.set(0,
              context.pointwise_inputs({0, 1}, ElementType::kBool,
                                       [](const auto& x) { return Function(x[0], x[1]); }),
              ElementType::kBool, true);
}

Expr at_least(const Expr& a, const Expr& b) { return apply("step", {a - b}); }
Expr at_most(const Expr& a, const Expr& b) { return apply("step", {b - a}); }
Expr above(const Expr& a, const Expr& b) { return greater(a, b); }
Expr below(const Expr& a, const Expr& b) { return greater(b, a); }
Expr equal(const Expr& a, const Expr& b) { return at_least(a, b) * at_most(a, b); }
Expr both(const Expr& a, const Expr& b) { return minimum(a, b); }
Expr either(const Expr& a, const Expr& b) { return maximum(a, b); }
Expr one_of(const Expr& a, const Expr& b) { return apply("abs", {a - b}); }

void negation(NodeContext& context) {
  context.set(0,
              context.pointwise_inputs({0}, ElementType::kBool,
                                       [](const auto& x) { return number(1) - x[0]; }),
              ElementType::kBool, true);
}

/// Products with 0 and 1 would make 0 · inf of what is not taken.
void where(NodeContext& context) {
  const ElementType type = context.in(1).type;
  context.set(0,
              context.pointwise_inputs({0, 1, 2}, type,
                                       [](const auto& x) {
                                         return apply("select", {x[0], x[1], x[2]});
                                       }),
              type, context.in(1).is_nonnegative && context.in(2).is_nonnegative);
}

}  // namespace

void add_comparisons(OperatorTable& table) {
  table["Greater"] = compare<above>;
  table["Less"] = compare<below>;
  table["GreaterOrEqual"] = compare<at_least>;
  table["LessOrEqual"] = compare<at_most>;
  table["Equal"] = compare<equal>;
  table["And"] = compare<both>;
  table["Or"] = compare<either>;
  table["Xor"] = compare<one_of>;
  table["Not"] = negation;
  table["Where"] = where;
}

}  // namespace sluice::onnx_graph
