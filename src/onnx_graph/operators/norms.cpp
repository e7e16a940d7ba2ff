#include <cmath>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

using Dimensions = std::set<std::size_t>;

double count(const Shape& shape, const Dimensions& dimensions) {
  double n = 1;
  for (const std::size_t d : dimensions) n *= static_cast<double>(shape[d]);
  return n;
}

Dimensions from(std::size_t first, std::size_t rank) {
  Dimensions dimensions;
  for (std::size_t d = first; d < rank; ++d) dimensions.insert(d);
  return dimensions;
}

/// Mean, centred value, variance, 1/sqrt: (x − mean) / sqrt(variance + epsilon). `mean_out`,
/// `scale_out`: the statistics, if asked for.
View normalised(NodeContext& context, const View& x, const Dimensions& dimensions, double epsilon,
                const std::string& name, ElementType type, View* mean_out = nullptr,
                View* scale_out = nullptr) {
  const double n = count(shape_of(x), dimensions);
  const View mean = context.reduced({x}, dimensions, Reducing::kSum, name + "_mean", type,
                                    [&](const auto& v) { return v[0] * number(1 / n); });
  const View centred = context.pointwise({x, mean}, name + "_centred", type,
                                         [](const auto& v) { return v[0] - v[1]; });
  const View squares = context.reduced({centred}, dimensions, Reducing::kSum, name + "_squares",
                                       type, [](const auto& v) { return v[0] * v[0]; });
  const View scale = context.pointwise({squares}, name + "_scale", type, [&](const auto& v) {
    return apply("rsqrt", {v[0] * number(1 / n) + number(epsilon)});
  });
  if (mean_out != nullptr) *mean_out = mean;
  if (scale_out != nullptr) *scale_out = scale;
  return context.pointwise({centred, scale}, name + "_normalised", type,
                           [](const auto& v) { return v[0] * v[1]; });
}

/// x / sqrt(mean of squares + epsilon)
View root_mean_square(NodeContext& context, const View& x, const Dimensions& dimensions,
                      double epsilon, const std::string& name, ElementType type) {
  const double n = count(shape_of(x), dimensions);
  const View squares = context.reduced({x}, dimensions, Reducing::kSum, name + "_squares", type,
                                       [](const auto& v) { return v[0] * v[0]; });
  const View scale = context.pointwise({squares}, name + "_scale", type, [&](const auto& v) {
    return apply("rsqrt", {v[0] * number(1 / n) + number(epsilon)});
  });
  return context.pointwise({x, scale}, name + "_normalised", type,
                           [](const auto& v) { return v[0] * v[1]; });
}

/// value · gain + bias, either may be left out.
View affine(NodeContext& context, const View& value, std::optional<View> gain,
            std::optional<View> bias, const std::string& name, ElementType type) {
  if (!gain && !bias) return value;
  std::vector<View> views = {value};
  if (gain) views.push_back(*gain);
  if (bias) views.push_back(*bias);
  return context.pointwise(views, name, type, [&](const auto& v) {
    Expr result = gain ? v[0] * v[1] : v[0];
    return bias ? std::move(result) + v.back() : result;
  });
}

std::optional<View> optional_view(NodeContext& context, std::size_t input) {
  return context.has(input) ? std::optional(context.view(input)) : std::nullopt;
}

/// [C] as [C, 1, 1, …], to stand beside [N, C, …].
View along_channels(View view, std::size_t rank) {
  while (view.dimensions.size() + 1 < rank) view.dimensions.emplace_back();
  return view;
}

void layer_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), input.shape.size());
  const std::string name = context.output_name();
  View mean, scale;
  const View value = normalised(context, context.view(0), from(axis, input.shape.size()),
                                context.real("epsilon", 1e-5F), name, input.type, &mean, &scale);
  context.set(0,
              affine(context, value, optional_view(context, 1), optional_view(context, 2), name,
                     input.type),
              input.type);
  context.set(1, mean, input.type);
  context.set(2, scale, input.type, true);
}

void rms_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), input.shape.size());
  const std::string name = context.output_name();
  const View value = root_mean_square(context, context.view(0), from(axis, input.shape.size()),
                                      context.real("epsilon", 1e-5F), name, input.type);
  context.set(0, affine(context, value, optional_view(context, 1), std::nullopt, name, input.type),
              input.type);
}

/// Microsoft's: a sum with the residual goes before. Inputs: x, skip, gain, [bias of the norm,]
/// bias.
template <bool IsRms>
void skip_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::string name = context.output_name();
  const std::size_t bias = IsRms ? 3 : 4;
  std::vector<std::size_t> summed = {0, 1};
  if (context.has(bias)) summed.push_back(bias);
  const View sum = context.pointwise_inputs(
      summed, input.type,
      [](const auto& x) {
        Expr total = x[0] + x[1];
        return x.size() > 2 ? std::move(total) + x[2] : total;
      },
      name + "_residual");
  const Dimensions last = from(input.shape.size() - 1, input.shape.size());
  const double epsilon = context.real("epsilon", 1e-12F);
  const View value = IsRms ? root_mean_square(context, sum, last, epsilon, name, input.type)
                           : normalised(context, sum, last, epsilon, name, input.type);
  context.set(0,
              affine(context, value, optional_view(context, 2),
                     IsRms ? std::nullopt : optional_view(context, 3), name, input.type),
              input.type);
  context.set(3, sum, input.type);
}

void instance_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t rank = input.shape.size();
  const std::string name = context.output_name();
  const View value = normalised(context, context.view(0), from(2, rank),
                                context.real("epsilon", 1e-5F), name, input.type);
  context.set(0,
              affine(context, value, along_channels(context.view(1), rank),
                     along_channels(context.view(2), rank), name, input.type),
              input.type);
}

/// Channels in groups that are normalised together; gains of groups (opset 18) or channels (21).
void group_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t rank = input.shape.size();
  const std::int64_t groups = context.integer("num_groups", 1);
  if (rank < 2 || groups < 1 || input.shape[1] % groups != 0)
    context.fail("its channels do not come apart in its num_groups");
  const std::string name = context.output_name();
  Shape shape = input.shape;
  shape[1] = groups;
  shape.insert(shape.begin() + 2, input.shape[1] / groups);
  const View grouped = context.reshape(context.view(0), shape, input.type);
  View value = normalised(context, grouped, from(2, rank + 1), context.real("epsilon", 1e-5F), name,
                          input.type);
  const auto per_group = [&](std::size_t i) {
    return context.in(i).shape != Shape{input.shape[1]};
  };
  const auto parameter = [&](std::size_t i) {
    View view = context.view(i);
    if (per_group(i)) return along_channels(view, rank + 1);
    return along_channels(context.reshape(view, {groups, input.shape[1] / groups}, input.type),
                          rank + 1);
  };
  const auto placed = [&](std::size_t i) {
    View view = parameter(i);
    while (view.dimensions.size() < rank) view.dimensions.emplace_back();
    return view;
  };
  value = affine(context, value, placed(1), placed(2), name, input.type);
  context.set(0, context.reshape(value, input.shape, input.type), input.type);
}

/// Of constant statistics, gain and shift are worked out before the run.
void batch_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t rank = input.shape.size();
  const double epsilon = context.real("epsilon", 1e-5F);
  const std::string name = context.output_name();
  if (rank < 2) context.fail("its input has no channels");
  if (context.integer("training_mode", 0) != 0) {
    context.approximate("statistics of the batch are not taken, but read as at inference");
    context.set(1, context.view(3), input.type);
    context.set(2, context.view(4), input.type);
  }
  std::set<std::string> sources;
  bool is_constant = true, has_numbers = true;
  for (std::size_t i = 1; i < 5; ++i) {
    const Value& value = context.in(i);
    is_constant &= value.constant != nullptr && value.shape == Shape{input.shape.at(1)};
    has_numbers &= is_constant && value.constant->has_numbers();
    sources.insert(value.sources.begin(), value.sources.end());
  }
  View gain, shift;
  if (is_constant) {
    Constant a, b;
    a.type = b.type = input.type;
    a.shape = b.shape = {input.shape[1]};
    if (has_numbers) {
      a.reals.emplace();
      b.reals.emplace();
      for (std::size_t c = 0; c < static_cast<std::size_t>(input.shape[1]); ++c) {
        const auto at = [&](std::size_t i) { return context.in(i).constant->number(c); };
        a.reals->push_back(at(1) / std::sqrt(at(4) + epsilon));
        b.reals->push_back(at(2) - at(3) * a.reals->back());
      }
    }
    gain = context.table(name + "_gain", std::move(a), sources);
    shift = context.table(name + "_shift", std::move(b), sources);
  } else {
    gain = context.pointwise_inputs(
        {1, 4}, input.type,
        [&](const auto& x) { return x[0] * apply("rsqrt", {x[1] + number(epsilon)}); },
        name + "_gain");
    shift = context.pointwise({context.view(2), context.view(3), gain}, name + "_shift", input.type,
                              [](const auto& x) { return x[0] - x[1] * x[2]; });
  }
  context.set(0,
              affine(context, context.view(0), along_channels(gain, rank),
                     along_channels(shift, rank), name, input.type),
              input.type);
}

void lp_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), input.shape.size());
  const bool is_l1 = context.integer("p", 2) == 1;
  const std::string name = context.output_name();
  const View x = context.view(0);
  const View sum =
      context.reduced({x}, {axis}, Reducing::kSum, name + "_sum", input.type,
                      [&](const auto& v) { return apply(is_l1 ? "abs" : "square", {v[0]}); });
  context.set(0,
              context.pointwise(
                  {x, sum}, name, input.type,
                  [&](const auto& v) { return v[0] / (is_l1 ? v[1] : apply("sqrt", {v[1]})); }),
              input.type);
}

void mean_variance_normalization(NodeContext& context) {
  const Value input = context.in(0);
  auto axes = context.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  Dimensions dimensions;
  for (const std::int64_t axis : axes) dimensions.insert(context.axis(axis, input.shape.size()));
  context.set(
      0, normalised(context, context.view(0), dimensions, 1e-9, context.output_name(), input.type),
      input.type);
}

/// x / (bias + alpha/size · Σ x² over neighbouring channels)^beta
void local_response_normalization(NodeContext& context) {
  const Value input = context.in(0);
  const std::int64_t size = context.integer("size", 1);
  if (size < 1 || input.shape.size() < 2) context.fail("its size must be at least 1");
  const double alpha = context.real("alpha", 1e-4F), beta = context.real("beta", 0.75);
  const double bias = context.real("bias", 1);
  const std::string name = context.output_name();
  View x = context.view(0);
  if (x.dimensions[1].size() > 1 || is_repeated(x, x.dimensions[1]))
    x = context.copied(x, input.type, name + "_plane");
  std::set<std::size_t> used;
  std::vector<std::vector<std::size_t>> axes;
  for (std::size_t d = 0; d < x.dimensions.size(); ++d)
    axes.push_back(context.axes_for(x, d, d == 1 ? "C" : "H", used));
  CascadeEinsum sum;
  sum.inputs = {context.access(x, axes)};
  if (size > 1 && !axes[1].empty()) {
    const std::size_t neighbour = context.cascade().add_axis("R", size);
    std::vector<Index> by_axis;
    for (std::size_t a = 0; a < context.cascade().axes.size(); ++a) by_axis.push_back(Index::of(a));
    by_axis[axes[1][0]].terms.push_back({neighbour, 1});
    by_axis[axes[1][0]].constant = -((size - 1) / 2);
    for (Index& index : sum.inputs[0].indices) index = substitute(index, by_axis);
    sum.reduction = Reducing::kSum;
  }
  sum.expression = read(0) * read(0);
  const View squares = context.make(std::move(sum), axes, name + "_squares", input.type);
  context.set(0,
              context.pointwise({x, squares}, name, input.type,
                                [&](const auto& v) {
                                  const Expr inner =
                                      v[1] * number(alpha / static_cast<double>(size)) +
                                      number(bias);
                                  return v[0] * power(inner, -beta);
                                }),
              input.type, input.is_nonnegative);
}

}  // namespace

void add_norms(OperatorTable& table) {
  table["LayerNormalization"] = layer_normalization;
  table["RMSNormalization"] = table["SimplifiedLayerNormalization"] = rms_normalization;
  table["SkipLayerNormalization"] = skip_normalization<false>;
  table["SkipSimplifiedLayerNormalization"] = skip_normalization<true>;
  table["InstanceNormalization"] = instance_normalization;
  table["GroupNormalization"] = group_normalization;
  table["BatchNormalization"] = batch_normalization;
  table["LpNormalization"] = lp_normalization;
  table["MeanVarianceNormalization"] = mean_variance_normalization;
  table["LRN"] = local_response_normalization;
}

}  // namespace sluice::onnx_graph
