// Mixtures of experts of com.microsoft: each row goes through k of the experts.
#include <fmt/format.h>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/products.h"
#include "onnx_graph/operators/softmax.h"

namespace sluice::onnx_graph {
namespace {

/// Inputs of one layer of all experts: weights [E, out, in], biases [E, out], scales [E, out].
struct LayerInputs {
  std::size_t weights, bias;
  std::optional<std::size_t> scales;
};

/// How rows meet experts: `rows` times k pairs, spread evenly over the experts that are used.
struct Spread {
  std::int64_t rows = 1, k = 1, used = 1, each = 1;
};

Spread spread_of(std::int64_t rows, std::int64_t k, std::int64_t experts) {
  Spread spread{rows, k, std::min(experts, volume({rows, k})), 1};
  while (rows * k % spread.used != 0) --spread.used;
  spread.each = rows * k / spread.used;
  return spread;
}

class ExpertLayers {
 public:
  ExpertLayers(NodeContext& context, ElementType type, std::int64_t experts, std::int64_t bits)
      : context_(context), type_(type), experts_(experts), bits_(bits) {}

  /// x: [used, each, in] → [used, each, out]
  View apply_to(const View& x, const LayerInputs& inputs, const Spread& spread,
                const std::string& name) {
    const std::int64_t width = shape_of(x)[2];
    const View weights =
        context_.slice(weights_of(inputs.weights, width, name), 0, 0, 1, spread.used, type_);
    std::vector<View> views = {
        contract(context_, {x, weights}, {"emh", "eoh"}, "emo", name + "_product", type_, 1)};
    const auto add = [&](View view) {
      view = context_.slice(view, 0, 0, 1, spread.used, type_);
      view.dimensions.insert(view.dimensions.begin() + 1, Digits{});
      views.push_back(view);
    };
    const bool has_bias = context_.has(inputs.bias);
    const bool has_scales = inputs.scales && context_.has(*inputs.scales);
    const bool fits = has_scales && context_.in(*inputs.scales).shape.size() == 2;
    if (has_scales && !fits) context_.approximate("scales of blocks are left out");
    if (fits) add(context_.uncounted_view(*inputs.scales));
    if (has_bias) add(context_.view(inputs.bias));
    if (views.size() == 1) return views[0];
    return context_.pointwise(views, name, type_, [&](const auto& v) {
      Expr value = fits ? v[0] * v[1] : v[0];
      return has_bias ? std::move(value) + v.back() : value;
    });
  }

 private:
  /// [E, out, in], which may lie as [E, in, out]; packed ones as a tensor of their own.
  View weights_of(std::size_t input, std::int64_t width, const std::string& name) {
    const Value value = context_.in(input);
    if (value.shape.size() != 3 || value.shape[0] != experts_)
      context_.fail("its weights do not fit its experts");
    const std::int64_t packed = 8 / bits_;
    if (bits_ < 8) {
      if (value.shape[2] * packed != width) context_.fail("its weights do not fit its experts");
      Constant weights;
      weights.type = ElementType::kUint8;
      weights.shape = {experts_, value.shape[1], width};
      const std::int64_t n = volume(weights.shape);
      const View view = context_.table(name + "_weights", std::move(weights), value.sources);
      context_.cascade().tensors[view.tensor].bits = static_cast<int>(bits_);
      for (const std::string& source : value.sources)
        if (context_.lowering().sources.count(source) > 0) context_.lowering().sources[source] = n;
      return view;
    }
    View view = context_.view(input);
    if (value.shape[2] == width) return view;
    if (value.shape[1] != width) context_.fail("its weights do not fit its experts");
    return transposed(view, {0, 2, 1});
  }

  NodeContext& context_;
  ElementType type_;
  std::int64_t experts_, bits_;
};

Expr activated(const std::string& activation, const Expr& x) {
  if (activation == "gelu") return gelu(x);
  if (activation == "silu" || activation == "swiglu") return silu(x);
  return activation == "identity" ? x : maximum(x, number(0));
}

/// What the first layer makes, behind the activation; times a gate, which is a layer of its own or
/// the second half of what the first one makes.
View between_layers(NodeContext& context, const View& first, std::optional<View> gate,
                    std::int64_t width, ElementType type) {
  const std::string activation = context.text("activation_type", "relu");
  std::vector<View> views = {first};
  if (gate) views.push_back(*gate);
  if (!gate && shape_of(first)[2] == 2 * width)
    views = {context.slice(first, 2, 0, 1, width, type),
             context.slice(first, 2, width, 1, width, type)};
  return context.pointwise(views, context.output_name() + "_active", type, [&](const auto& v) {
    const Expr value = activated(activation, v[0]);
    return v.size() > 1 ? value * v[1] : value;
  });
}

/// The shares of the k experts of a row: [rows, k, 1]. The choice is priced as a maximum.
View shares(NodeContext& context, const Spread& spread, ElementType type) {
  const std::string name = context.output_name();
  const View all =
      context.reshape(context.view(1), {spread.rows, context.in(1).shape.back()}, type);
  View best = context.reduced({softmax(context, all, {1}, name + "_router", type)}, {1},
                              Reducing::kMax, name + "_best", type, first_of);
  repeat(best, 1, spread.k);
  best.dimensions.emplace_back();
  return best;
}

template <bool IsQuantised>
void mixture_of_experts(NodeContext& context) {
  const Value input = context.in(0);
  const ElementType type = input.type;
  const std::string name = context.output_name();
  const std::int64_t experts = context.in(1).shape.empty() ? 0 : context.in(1).shape.back();
  const std::int64_t hidden = input.shape.empty() ? 0 : input.shape.back();
  const std::int64_t k = context.integer("k", 1);
  const std::int64_t bits = IsQuantised ? context.integer("expert_weight_bits", 4) : 8;
  if (experts < 1 || hidden < 1 || k < 1 || k > experts || (bits != 4 && bits != 8))
    context.fail("its k, experts and rows do not fit together");
  const LayerInputs one = IsQuantised ? LayerInputs{2, 4, 3} : LayerInputs{2, 3, {}};
  const LayerInputs two = IsQuantised ? LayerInputs{5, 7, 6} : LayerInputs{4, 5, {}};
  const LayerInputs three = IsQuantised ? LayerInputs{8, 10, 9} : LayerInputs{6, 7, {}};
  const Spread spread = spread_of(volume(input.shape) / hidden, k, experts);
  context.approximate(fmt::format(
      "which experts a row takes is not known before the run: rows are spread evenly over {} of {}",
      spread.used, experts));
  View x = context.reshape(context.view(0), {spread.rows, 1, hidden}, type);
  repeat(x, 1, k);
  x = context.reshape(x, {spread.used, spread.each, hidden}, type);
  ExpertLayers layers(context, type, experts, bits);
  const View first = layers.apply_to(x, one, spread, name + "_first");
  std::optional<View> gate;
  if (context.has(three.weights)) gate = layers.apply_to(x, three, spread, name + "_gate");
  const Shape second = context.in(two.weights).shape;
  if (second.size() != 3) context.fail("its weights do not fit its experts");
  const std::int64_t packed = 8 / bits;
  const std::int64_t width = second[1] == hidden ? second[2] * packed : second[1];
  const View active = between_layers(context, first, gate, width, type);
  View result = layers.apply_to(active, two, spread, name + "_second");
  result = context.reshape(result, {spread.rows, k, hidden}, type);
  result = context.reduced({result, shares(context, spread, type)}, {1}, Reducing::kSum, name, type,
                           [](const auto& v) { return v[0] * v[1]; });
  context.set(0, context.reshape(result, input.shape, type), type);
}

}  // namespace

void add_experts(OperatorTable& table) {
  table["MoE"] = mixture_of_experts<false>;
  table["QMoE"] = mixture_of_experts<true>;
}

}  // namespace sluice::onnx_graph
