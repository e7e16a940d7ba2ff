#include <cmath>

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

struct Reduction {
  Reducing kind = Reducing::kSum;
  Expr (*before)(const Expr&, double n) = nullptr;  ///< n: values that meet
  const char* after = nullptr;                      ///< an operation on the result
  bool is_nonnegative = false;
};

Expr itself(const Expr& x, double) { return x; }
Expr share(const Expr& x, double n) { return x * number(1 / n); }
Expr magnitude(const Expr& x, double) { return apply("abs", {x}); }
Expr squared(const Expr& x, double) { return apply("square", {x}); }
Expr exponential(const Expr& x, double) { return apply("exp", {x}); }

std::set<std::size_t> reduced_dimensions(NodeContext& context, std::size_t rank) {
  const auto axes = context.attribute_or_input("axes", 1);
  std::set<std::size_t> dimensions;
  if (axes && !axes->empty())
    for (const std::int64_t axis : *axes) dimensions.insert(context.axis(axis, rank));
  else if (context.integer("noop_with_empty_axes", 0) == 0)
    for (std::size_t d = 0; d < rank; ++d) dimensions.insert(d);
  return dimensions;
}

View without(View view, const std::set<std::size_t>& dimensions) {
  std::vector<Digits> kept;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d)
    if (dimensions.count(d) == 0) kept.push_back(view.dimensions[d]);
  view.dimensions = std::move(kept);
  return view;
}

void reduce(NodeContext& context, const Reduction& reduction) {
  const Value input = context.in(0);
  const auto dimensions = reduced_dimensions(context, input.shape.size());
  double n = 1;
  for (const std::size_t d : dimensions) n *= static_cast<double>(input.shape[d]);
  const std::string name = context.output_name();
  const bool goes_on = reduction.after != nullptr;
  View result =
      context.reduced({context.view(0)}, dimensions, reduction.kind, goes_on ? name + "_sum" : name,
                      input.type, [&](const auto& x) { return reduction.before(x[0], n); });
  if (goes_on)
    result = context.pointwise({result}, name, input.type,
                               [&](const auto& x) { return apply(reduction.after, {x[0]}); });
  if (context.integer("keepdims", 1) == 0) result = without(std::move(result), dimensions);
  context.set(0, std::move(result), input.type,
              reduction.is_nonnegative || (reduction.after == nullptr && input.is_nonnegative));
}

void sum(NodeContext& c) { reduce(c, {Reducing::kSum, itself}); }
void mean(NodeContext& c) { reduce(c, {Reducing::kSum, share}); }
void product(NodeContext& c) { reduce(c, {Reducing::kProduct, itself}); }
void largest(NodeContext& c) { reduce(c, {Reducing::kMax, itself}); }
void smallest(NodeContext& c) { reduce(c, {Reducing::kMin, itself}); }
void l1(NodeContext& c) { reduce(c, {Reducing::kSum, magnitude, nullptr, true}); }
void l2(NodeContext& c) { reduce(c, {Reducing::kSum, squared, "sqrt", true}); }
void sum_of_squares(NodeContext& c) { reduce(c, {Reducing::kSum, squared, nullptr, true}); }
void log_of_sum(NodeContext& c) { reduce(c, {Reducing::kSum, itself, "log"}); }
void log_of_exponentials(NodeContext& c) { reduce(c, {Reducing::kSum, exponential, "log"}); }

/// The place of an extreme value costs as much as the value itself: a comparison an element.
template <Reducing Kind>
void place_of(NodeContext& context) {
  context.approximate("the place of an extreme value is priced as the value: a comparison each");
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", 0), input.shape.size());
  View result = context.reduced({context.view(0)}, {axis}, Kind, context.output_name(),
                                ElementType::kInt64, [](const auto& x) { return x[0]; });
  if (context.integer("keepdims", 1) == 0) result = without(std::move(result), {axis});
  context.set(0, std::move(result), ElementType::kInt64, true);
}

/// Running sums, written as one addition an element.
void running_sum(NodeContext& context) {
  context.approximate("a running sum is priced as one addition an element");
  const ElementType type = context.in(0).type;
  context.set(0,
              context.pointwise({context.view(0)}, context.output_name(), type,
                                [](const auto& x) { return x[0] + x[0]; }),
              type, context.in(0).is_nonnegative);
}

/// The k largest of a row: a comparison for each value and result.
void top_k(NodeContext& context) {
  context.approximate("a selection is priced as one comparison for each value");
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), input.shape.size());
  const std::int64_t k = context.has(1) ? context.integers(1).at(0) : context.integer("k", 1);
  if (k < 1 || k > input.shape[axis])
    context.fail("its k is not between 1 and the size of its axis");
  const View best =
      context.reduced({context.view(0)}, {axis}, Reducing::kMax, context.output_name() + "_best",
                      input.type, [](const auto& x) { return x[0]; });
  View many = best;
  repeat(many, axis, k);
  const auto copy = [](const auto& x) { return x[0]; };
  context.set(0, context.pointwise({many}, context.output_name(0), input.type, copy), input.type);
  if (context.node().outputs.size() > 1)
    context.set(1, context.pointwise({many}, context.output_name(1), ElementType::kInt64, copy),
                ElementType::kInt64, true);
}

}  // namespace

void add_reductions(OperatorTable& table) {
  table["ReduceSum"] = sum;
  table["ReduceMean"] = mean;
  table["ReduceProd"] = product;
  table["ReduceMax"] = largest;
  table["ReduceMin"] = smallest;
  table["ReduceL1"] = l1;
  table["ReduceL2"] = l2;
  table["ReduceSumSquare"] = sum_of_squares;
  table["ReduceLogSum"] = log_of_sum;
  table["ReduceLogSumExp"] = log_of_exponentials;
  table["ArgMax"] = place_of<Reducing::kMax>;
  table["ArgMin"] = place_of<Reducing::kMin>;
  table["CumSum"] = running_sum;
  table["TopK"] = top_k;
}

}  // namespace sluice::onnx_graph
