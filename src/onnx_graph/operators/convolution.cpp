#include "onnx_graph/operators/convolution.h"

#include <fmt/format.h>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/dequantised.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/windows.h"

namespace sluice::onnx_graph {
namespace {

using Axes = std::vector<std::size_t>;

/// Channels as groups and what is in a group, of input and weights.
struct Channels {
  Axes group, within, out;  ///< `out`: of one group
};

Axes joined(const Axes& a, const Axes& b) {
  Axes both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

void check_weights(const NodeContext& context, const Shape& input, const Shape& weight,
                   std::int64_t groups, bool is_transposed) {
  if (input.size() < 3)
    context.fail(fmt::format("its input [{}] has no plane", fmt::join(input, ", ")));
  if (groups < 1) context.fail(fmt::format("its attribute group is {}", groups));
  if (weight.size() != input.size())
    context.fail(fmt::format("weights [{}] do not fit an input [{}]", fmt::join(weight, ", "),
                             fmt::join(input, ", ")));
  const bool fits = is_transposed ? weight[0] == input[1] && input[1] % groups == 0
                                  : weight[1] * groups == input[1] && weight[0] % groups == 0;
  if (!fits)
    context.fail(fmt::format("weights [{}] in {} groups do not fit an input [{}]",
                             fmt::join(weight, ", "), groups, fmt::join(input, ", ")));
}

/// A dimension of `groups` times `rest`, as two.
void split_groups(NodeContext& context, View& view, std::size_t dimension, std::int64_t groups) {
  Shape shape = shape_of(view);
  const std::int64_t rest = shape[dimension] / groups;
  shape[dimension] = groups;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, rest);
  view = context.reshape(view, shape, ElementType::kUndefined);
}

/// The views are split: input [N, G, C, …], weight [G, K, C, …] or, transposed, [G, C, K, …].
struct Operands {
  View input, weight;
  Channels channels;
  Axes batch;
};

Operands operands_of(NodeContext& context, View input, View weight, std::int64_t groups,
                     bool is_transposed) {
  weight = context.current(std::move(weight));
  for (std::size_t d = 1; d < weight.dimensions.size(); ++d)  // sums must walk what they add up
    if (is_repeated(weight, weight.dimensions[d]))
      weight = context.copied(weight, ElementType::kUndefined, context.output_name() + "_weights");
  split_groups(context, input, 1, groups);
  split_groups(context, weight, 0, groups);
  std::vector<View> views = {std::move(input), std::move(weight)};
  const std::size_t c = is_transposed ? 1 : 2, k = is_transposed ? 2 : 1;
  context.match(views, {{0, 1}, {1, 0}});
  context.match(views, {{0, 2}, {1, c}});
  context.match(views, {{0, 1}, {1, 0}});
  Operands result{std::move(views[0]), std::move(views[1]), {}, {}};
  std::set<std::size_t> used;
  result.batch = context.axes_for(result.input, 0, "N", used);
  result.channels.group = context.axes_for(result.input, 1, "G", used);
  result.channels.within = context.axes_for(result.input, 2, "C", used);
  result.channels.out = context.axes_for(result.weight, k, "K", used);
  return result;
}

/// The access of a view whose first dimensions have axes and whose last ones indices.
CascadeAccess access_of(const View& view, const std::vector<Axes>& axes,
                        const std::vector<Index>& plane) {
  std::vector<Index> by_slot(view.n_slots);
  for (std::size_t d = 0; d < view.dimensions.size(); ++d)
    for (std::size_t i = 0; i < view.dimensions[d].size(); ++i)
      by_slot[view.dimensions[d][i].slot] =
          d < axes.size() ? Index::of(axes[d][i]) : plane[d - axes.size()];
  CascadeAccess access;
  access.tensor = view.tensor;
  for (const Index& index : view.projection) access.indices.push_back(substitute(index, by_slot));
  return access;
}

std::vector<Index> plain_indices(NodeContext& context, const Axes& axes) {
  std::vector<Index> indices;
  for (const std::size_t axis : axes) {
    const Axes group = group_of(context, axis);
    indices.push_back(group.empty() ? Index{} : Index::of(group[0]));
  }
  return indices;
}

CascadeEinsum product_of(NodeContext& context, const Operands& operands,
                         const std::vector<Window>& windows, const WindowAxes& axes,
                         bool is_transposed) {
  const Channels& channels = operands.channels;
  CascadeEinsum einsum;
  const std::vector<Index> plane =
      is_transposed ? plain_indices(context, axes.output) : window_indices(windows, axes);
  einsum.inputs = {
      access_of(operands.input, {operands.batch, channels.group, channels.within}, plane),
      access_of(operands.weight,
                is_transposed ? std::vector<Axes>{channels.group, channels.within, channels.out}
                              : std::vector<Axes>{channels.group, channels.out, channels.within},
                plain_indices(context, axes.window))};
  einsum.expression = read(0) * read(1);
  einsum.reduction = Reducing::kSum;
  einsum.weight = 1;
  einsum.is_mac = true;
  return einsum;
}

std::vector<std::int64_t> kernel_of(const Shape& weight) {
  return weight.size() < 3 ? std::vector<std::int64_t>()
                           : std::vector<std::int64_t>(weight.begin() + 2, weight.end());
}

/// Each input value is spread over a window of the output: Y[s·p + d·r − before] += X[p] · W[r].
View convolve_transposed(NodeContext& context, View input, View weight, const std::string& name,
                         ElementType type) {
  const Shape shape = shape_of(input), sizes = shape_of(weight);
  const std::int64_t groups = context.integer("group", 1);
  check_weights(context, shape, sizes, groups, true);
  const std::vector<Window> windows = read_transposed_windows(context, shape, kernel_of(sizes));
  input = context.current(std::move(input));
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (input.dimensions[i + 2].size() > 1)
      input = context.copied(input, ElementType::kUndefined, name + "_plane");
  const Operands operands = operands_of(context, std::move(input), std::move(weight), groups, true);
  std::vector<Window> spread = windows;  // variables walk the input's plane
  for (Window& window : spread) window.output = window.input;
  const WindowAxes axes = add_window_axes(context, spread);
  CascadeEinsum einsum = product_of(context, operands, spread, axes, true);
  const std::vector<Index> plane = window_indices(spread, axes);
  const Axes k = joined(operands.channels.group, operands.channels.out);
  std::vector<Axes> dimensions = {operands.batch, k};
  for (const Axes& group : dimensions)
    for (const std::size_t axis : group) einsum.output.indices.push_back(Index::of(axis));
  bool has_holes = false;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    has_holes |= windows[i].stride > windows[i].size || windows[i].dilation > 1 ||
                 windows[i].output > (windows[i].input - 1) * windows[i].stride +
                                         (windows[i].size - 1) * windows[i].dilation + 1 -
                                         windows[i].before;
    if (windows[i].output == 1 && plane[i].terms.empty() && plane[i].constant == 0) {
      dimensions.emplace_back();
      continue;
    }
    dimensions.push_back({context.cascade().add_axis(i == 0 ? "H" : "W", windows[i].output)});
    einsum.output.indices.push_back(plane[i]);
  }
  einsum.output.tensor = context.new_tensor(name, type, dimensions);
  if (has_holes) context.cascade().tensors[einsum.output.tensor].initial = 0;
  const std::size_t tensor = einsum.output.tensor;
  context.add(std::move(einsum));
  return without_single_digits(view_of(context.cascade(), tensor, dimensions));
}

using Convolution = View (*)(NodeContext&, View, View, const std::string&, ElementType);

template <Convolution Convolve>
void convolution(NodeContext& context) {
  if (Convolve == convolve && multiplied_as_integers(context)) return;
  const ElementType type = context.in(0).type;
  const bool has_bias = context.has(2);
  const std::string name = context.output_name();
  View result = Convolve(context, context.view(0), context.view(1),
                         has_bias ? name + "_product" : name, type);
  if (has_bias) result = add_to_channels(context, result, context.view(2), name, type);
  context.set(0, std::move(result), type);
}

/// The channels come last, of weights perhaps too.
View convolved_last_channels(NodeContext& context, const std::string& name) {
  const Value input = context.in(0), weight = context.in(1);
  const std::size_t rank = input.shape.size();
  if (rank < 3 || weight.shape.size() != rank) context.fail("its input has no plane");
  std::vector<std::size_t> to_front = {0, rank - 1}, to_back = {0};
  for (std::size_t d = 1; d + 1 < rank; ++d) to_front.push_back(d);
  for (std::size_t d = 2; d < rank; ++d) to_back.push_back(d);
  to_back.push_back(1);
  const bool is_last = weight.shape[1] * context.integer("group", 1) != input.shape[rank - 1];
  View result = convolve(context, transposed(context.view(0), to_front),
                         is_last ? transposed(context.view(1), to_front) : context.view(1),
                         context.has(2) ? name + "_product" : name, input.type);
  if (context.has(2)) result = add_to_channels(context, result, context.view(2), name, input.type);
  return transposed(result, to_back);
}

void convolution_of_last_channels(NodeContext& context) {
  context.set(0, convolved_last_channels(context, context.output_name()), context.in(0).type);
}

/// Inputs: x, weights, offsets, biases, a mask.
void deformed_convolution(NodeContext& context) {
  context.approximate(
      "values are read at whole places: offsets, masks and interpolation are not priced");
  const ElementType type = context.in(0).type;
  const std::string name = context.output_name();
  View result = convolve(context, context.view(0), context.view(1),
                         context.has(3) ? name + "_product" : name, type);
  if (context.has(3)) result = add_to_channels(context, result, context.view(3), name, type);
  context.set(0, std::move(result), type);
}

/// What Microsoft's do with what a convolution makes: an addend, an activation.
void add_and_activate(NodeContext& context, const View& convolved) {
  const ElementType type = context.in(0).type;
  std::vector<View> views = {convolved};
  if (context.has(3)) views.push_back(context.view(3));
  const std::string activation = context.text("activation", "");
  if (activation != "Relu" && !activation.empty())
    context.approximate(fmt::format("its activation {} is priced as Relu", activation));
  context.set(0,
              context.pointwise(views, context.output_name(), type,
                                [&](const auto& x) {
                                  Expr sum = x.size() > 1 ? x[0] + x[1] : x[0];
                                  return activation.empty() ? sum
                                                            : maximum(std::move(sum), number(0));
                                }),
              type, activation == "Relu");
}

void fused_convolution(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const std::string name = context.output_name();
  View result = convolve(context, context.view(0), context.view(1), name + "_product", type);
  if (context.has(2))
    result = add_to_channels(context, result, context.view(2), name + "_biased", type);
  add_and_activate(context, result);
}

void fused_convolution_of_last_channels(NodeContext& context) {
  add_and_activate(context, convolved_last_channels(context, context.output_name() + "_biased"));
}

}  // namespace

View convolve(NodeContext& context, View input, View weight, const std::string& name,
              ElementType type) {
  const Shape shape = shape_of(input), sizes = shape_of(weight);
  const std::int64_t groups = context.integer("group", 1);
  if (shape.size() < 3)
    context.fail(fmt::format("its input [{}] has no plane", fmt::join(shape, ", ")));
  check_weights(context, shape, sizes, groups, false);
  const std::vector<Window> windows = read_windows(context, shape, kernel_of(sizes));
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (windows[i].size != sizes[i + 2])
      context.fail(
          fmt::format("its kernel_shape is not that of its weights [{}]", fmt::join(sizes, ", ")));
  if (const auto zeros = zeros_of_border(context, windows, {shape[0], sizes[0]}, name, type))
    return *zeros;
  input = with_whole_planes(context, std::move(input), windows);
  const Operands operands =
      operands_of(context, std::move(input), std::move(weight), groups, false);
  const WindowAxes axes = add_window_axes(context, windows);
  CascadeEinsum einsum = product_of(context, operands, windows, axes, false);
  std::vector<Axes> dimensions = {operands.batch,
                                  joined(operands.channels.group, operands.channels.out)};
  for (const std::size_t axis : axes.output) dimensions.push_back(group_of(context, axis));
  const View result = context.make(std::move(einsum), dimensions, name, type);
  fill_border(context, result, windows);
  return without_single_digits(result);
}

View add_to_channels(NodeContext& context, const View& value, View bias, const std::string& name,
                     ElementType type) {
  for (std::size_t d = 2; d < value.dimensions.size(); ++d) bias.dimensions.emplace_back();
  return context.pointwise({value, bias}, name, type, [](const auto& x) { return x[0] + x[1]; });
}

void add_convolutions(OperatorTable& table) {
  table["Conv"] = convolution<convolve>;
  table["ConvTranspose"] = convolution<convolve_transposed>;
  table["FusedConv"] = fused_convolution;
  table["NhwcFusedConv"] = fused_convolution_of_last_channels;
  table["NhwcConv"] = convolution_of_last_channels;
  table["DeformConv"] = deformed_convolution;
}

}  // namespace sluice::onnx_graph
