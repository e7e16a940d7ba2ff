#include <fmt/format.h>

#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/products.h"

namespace sluice::onnx_graph {
namespace {

/// Products of all steps with inputs and states, and the cell's functions. `gates`: of a cell.
/// Each step reads a state of its own size that stands for the last step's, so that products and
/// functions are counted exactly, but steps do not wait for each other.
View direction(NodeContext& context, const View& input, std::int64_t which, std::int64_t gates,
               std::int64_t hidden, const std::string& name, ElementType type) {
  const auto own = [&](std::size_t at) {
    Shape shape = context.in(at).shape;
    const View part = context.slice(context.view(at), 0, which, 1, 1, type);
    return context.reshape(part, Shape(shape.begin() + 1, shape.end()), type);
  };
  const View w = transposed(own(1), {1, 0}), r = transposed(own(2), {1, 0});
  const View of_inputs = multiply_matrices(context, input, w, name + "_inputs", type);
  std::vector<View> addends = {of_inputs};
  if (context.has(3)) {
    const View biases = own(3);
    addends.push_back(context.slice(biases, 0, 0, 1, gates * hidden, type));
    addends.push_back(context.slice(biases, 0, gates * hidden, 1, gates * hidden, type));
  }
  const View sums = context.pointwise(addends, name + "_biased", type, [](const auto& x) {
    Expr sum = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) sum = std::move(sum) + x[i];
    return sum;
  });
  const View state = context.slice(sums, 2, 0, 1, hidden, type);
  const View of_states = multiply_matrices(context, state, r, name + "_states", type);
  std::vector<View> parts;
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    const View a = context.slice(sums, 2, gate * hidden, 1, hidden, type);
    const View b = context.slice(of_states, 2, gate * hidden, 1, hidden, type);
    parts.push_back(context.pointwise(
        {a, b}, fmt::format("{}_gate{}", name, gate + 1), type, [&](const auto& x) {
          return apply(gate + 1 == gates ? "tanh" : "sigmoid", {x[0] + x[1]});
        }));
  }
  if (gates == 1) return parts[0];
  return context.pointwise(parts, name + "_state", type, [&](const auto& x) {
    if (gates == 3) return (number(1) - x[0]) * x[2] + x[0] * x[1];
    const Expr cell = x[2] * x[1] + x[0] * x[3];
    return x[1] * apply("tanh", {cell});
  });
}

template <int Gates>
void recurrent(NodeContext& context) {
  const Value input = context.in(0);
  const Shape r = context.in(2).shape;
  const bool has_biases = context.has(3);
  if (input.shape.size() != 3 || r.size() != 3 || r[2] > 1 << 28 || r[1] != Gates * r[2] ||
      context.in(1).shape != Shape{r[0], r[1], input.shape[2]} ||
      (has_biases && context.in(3).shape != Shape{r[0], 2 * r[1]}))
    context.fail("its weights do not fit its input");
  context.approximate(
      "steps do not wait for each other; products and functions are counted exactly");
  View x = context.view(0);
  if (context.integer("layout", 0) != 0) x = transposed(x, {1, 0, 2});
  const Shape shape = shape_of(x);
  const std::string name = context.output_name();
  const std::int64_t directions = r[0], hidden = r[2];
  for (std::int64_t d = 0; d < directions; ++d) {
    const std::string own =
        directions == 1 ? name + "_cell" : fmt::format("{}_cell{}", name, d + 1);
    View y = direction(context, x, d, Gates, hidden, own, input.type);
    View last = context.slice(y, 0, shape[0] - 1, 1, 1, input.type);
    y.dimensions.insert(y.dimensions.begin() + 1, Digits{});
    if (directions > 1) repeat(y, 1, directions);
    if (directions > 1) repeat(last, 0, directions);
    context.set(0, y, input.type);
    context.set(1, last, input.type);
    context.set(2, last, input.type);
  }
}

}  // namespace

void add_recurrent(OperatorTable& table) {
  table["LSTM"] = recurrent<4>;
  table["GRU"] = recurrent<3>;
  table["RNN"] = recurrent<1>;
}

}  // namespace sluice::onnx_graph
