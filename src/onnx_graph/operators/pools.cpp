#include <algorithm>
#include <limits>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/windows.h"

namespace sluice::onnx_graph {
namespace {

/// Values of a window's row that lie in the plane, for each place of the output.
std::vector<double> counts(const Window& w, bool counts_padding) {
  std::vector<double> result;
  for (std::int64_t p = 0; p < w.output; ++p) {
    double n = 0;
    for (std::int64_t r = 0; r < w.size; ++r) {
      const std::int64_t at = p * w.stride + r * w.dilation - w.before;
      const bool is_padding = at < 0 || at >= w.input;
      const bool is_counted = counts_padding ? at < w.input + w.after : !is_padding;
      n += is_counted ? 1 : 0;
    }
    result.push_back(n);
  }
  return result;
}

bool all_equal(const std::vector<double>& values) {
  for (const double value : values)
    if (value != values.front()) return false;
  return true;
}

/// A border of -inf around the plane: of a maximum over windows zeros would be no padding.
View bordered(NodeContext& context, const View& input, const std::vector<Window>& windows,
              ElementType type) {
  std::set<std::size_t> used;
  std::vector<std::vector<std::size_t>> axes, ranks;
  CascadeEinsum einsum;
  for (std::size_t d = 0; d < input.dimensions.size(); ++d) {
    axes.push_back(context.axes_for(input, d, "I", used));
    ranks.push_back(axes.back());
    for (const std::size_t axis : axes.back()) einsum.output.indices.push_back(Index::of(axis));
    if (d < 2 || axes.back().empty()) continue;
    const Window& w = windows[d - 2];
    const std::int64_t behind =
        std::max<std::int64_t>((w.output - 1) * w.stride + reach(w) - w.before - w.input, 0);
    einsum.output.indices.back().constant = w.before;
    ranks.back() = {context.cascade().add_axis("H", w.before + w.input + behind)};
  }
  einsum.output.tensor = context.new_tensor(context.output_name() + "_bordered", type, ranks);
  context.cascade().tensors[einsum.output.tensor].initial =
      -std::numeric_limits<double>::infinity();
  einsum.inputs = {context.access(input, axes)};
  einsum.expression = read(0);
  const std::size_t tensor = einsum.output.tensor;
  context.add(std::move(einsum));
  return view_of(context.cascade(), tensor, ranks);
}

/// reduction over windows of function(value)
View over_windows(NodeContext& context, View input, const std::vector<Window>& windows,
                  Reducing reduction, const std::string& name, ElementType type,
                  const Pointwise& function) {
  const Shape shape = shape_of(input);
  if (const auto zeros = zeros_of_border(context, windows, {shape[0], shape[1]}, name, type))
    return *zeros;
  input = with_whole_planes(context, std::move(input), windows);
  std::set<std::size_t> used;
  const std::vector<std::size_t> batch = context.axes_for(input, 0, "N", used);
  const std::vector<std::size_t> channels = context.axes_for(input, 1, "C", used);
  const WindowAxes axes = add_window_axes(context, windows);
  CascadeEinsum einsum;
  einsum.inputs = {plane_access(input, batch, channels, window_indices(windows, axes))};
  einsum.expression = function({read(0)});
  for (const Window& window : windows)
    if (window.size > 1) einsum.reduction = reduction;
  std::vector<std::vector<std::size_t>> dimensions = {batch, channels};
  for (const std::size_t axis : axes.output) dimensions.push_back(group_of(context, axis));
  const View result = context.make(std::move(einsum), dimensions, name, type);
  fill_border(context, result, windows);
  return without_single_digits(result);
}

void max_pool(NodeContext& context) {
  const Value input = context.in(0);
  std::vector<Window> windows = read_windows(context, input.shape, {});
  View view = context.view(0);
  bool has_border = false;
  for (const Window& window : windows) has_border |= reaches_over(window);
  const bool sees_nothing = std::any_of(windows.begin(), windows.end(), misses_plane);
  if (has_border && (!input.is_nonnegative || sees_nothing)) {
    view = bordered(context, view, windows, input.type);
    for (Window& window : windows) {
      const std::int64_t behind = std::max<std::int64_t>(
          (window.output - 1) * window.stride + reach(window) - window.before - window.input, 0);
      if (window.input > 1) window.input += window.before + behind;
      if (window.input > 1) window.before = 0;
    }
  }
  context.set(0,
              over_windows(context, view, windows, Reducing::kMax, context.output_name(),
                           input.type, first_of),
              input.type, input.is_nonnegative);
  if (context.node().outputs.size() > 1 && !context.node().outputs[1].empty()) {
    context.approximate("its second output, the places of the maxima, is priced as copies");
    const View maxima = *context.lowering().values.at(context.node().outputs[0]).view;
    context.set(1,
                context.pointwise({maxima}, context.output_name(1), ElementType::kInt64, first_of),
                ElementType::kInt64, true);
  }
}

View averaged(NodeContext& context, const View& input, const std::vector<Window>& windows,
              bool counts_padding, ElementType type) {
  std::vector<std::vector<double>> divisors;
  bool is_uniform = true;
  double all = 1;
  for (const Window& window : windows) {
    divisors.push_back(counts(window, counts_padding));
    is_uniform &= all_equal(divisors.back());
    all *= divisors.back().front();
  }
  const std::string name = context.output_name();
  if (is_uniform)
    return over_windows(context, input, windows, Reducing::kSum, name, type,
                        [&](const auto& x) { return x[0] * number(1 / all); });
  const View sums =
      over_windows(context, input, windows, Reducing::kSum, name + "_sum", type, first_of);
  std::vector<View> views = {sums};
  for (std::size_t i = 0; i < windows.size(); ++i) {  // reciprocals of the counts, row and column
    if (divisors[i].empty()) continue;
    Constant table;
    table.shape.assign(windows.size() + 2, 1);
    table.shape[i + 2] = windows[i].output;
    for (double& divisor : divisors[i]) divisor = divisor > 0 ? 1 / divisor : 0;
    table.reals = divisors[i];
    views.push_back(context.table(name + "_share", std::move(table)));
  }
  return context.pointwise(views, name, type, [](const auto& x) {
    Expr product = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) product = std::move(product) * x[i];
    return product;
  });
}

void average_pool(NodeContext& context) {
  const Value input = context.in(0);
  const std::vector<Window> windows = read_windows(context, input.shape, {});
  for (const Window& window : windows)
    if (window.output > 1 << 20 || window.size > 1 << 20 || window.output * window.size > 1 << 26)
      context.fail("its plane is too large");
  const bool counts_padding = context.integer("count_include_pad", 0) != 0;
  context.set(0, averaged(context, context.view(0), windows, counts_padding, input.type),
              input.type, input.is_nonnegative);
}

void lp_pool(NodeContext& context) {
  const Value input = context.in(0);
  const std::vector<Window> windows = read_windows(context, input.shape, {});
  const std::int64_t p = context.integer("p", 2);
  if (p != 1 && p != 2) context.approximate("norms other than 1 and 2 are priced as 2");
  const std::string name = context.output_name();
  const View sums = over_windows(
      context, context.view(0), windows, Reducing::kSum, p == 1 ? name : name + "_sum", input.type,
      [&](const auto& x) { return apply(p == 1 ? "abs" : "square", {x[0]}); });
  if (p == 1) return context.set(0, sums, input.type, true);
  context.set(0,
              context.pointwise({sums}, name, input.type,
                                [](const auto& x) { return apply("sqrt", {x[0]}); }),
              input.type, true);
}

std::set<std::size_t> plane(const Shape& shape) {
  std::set<std::size_t> dimensions;
  for (std::size_t d = 2; d < shape.size(); ++d) dimensions.insert(d);
  return dimensions;
}

void global_average_pool(NodeContext& context) {
  const Value input = context.in(0);
  double n = 1;
  for (const std::size_t d : plane(input.shape)) n *= static_cast<double>(input.shape[d]);
  context.set(
      0,
      context.reduced({context.view(0)}, plane(input.shape), Reducing::kSum, context.output_name(),
                      input.type, [&](const auto& x) { return x[0] * number(1 / n); }),
      input.type, input.is_nonnegative);
}

void global_max_pool(NodeContext& context) {
  const Value input = context.in(0);
  context.set(0,
              context.reduced({context.view(0)}, plane(input.shape), Reducing::kMax,
                              context.output_name(), input.type, first_of),
              input.type, input.is_nonnegative);
}

}  // namespace

void add_pools(OperatorTable& table) {
  table["MaxPool"] = max_pool;
  table["AveragePool"] = average_pool;
  table["LpPool"] = lp_pool;
  table["GlobalAveragePool"] = global_average_pool;
  table["GlobalMaxPool"] = global_max_pool;
}

}  // namespace sluice::onnx_graph
