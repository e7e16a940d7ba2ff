#include "onnx_graph/sequences/recurrent_direction.h"

#include <fmt/format.h>

#include "onnx_graph/operators/products.h"

namespace sluice::onnx_graph {
namespace {

class Direction {
 public:
  Direction(NodeContext& context, const View& input, std::int64_t which, std::int64_t gates,
            std::string name, const CellFunction* functions)
      : context_(context),
        which_(which),
        gates_(gates),
        hidden_(context.in(RecurrentInput::kRecurrentWeights).shape[2]),
        name_(std::move(name)),
        functions_(functions),
        type_(context.in(0).type),
        resets_products_(gates == 3 && context.integer("linear_before_reset", 0) != 0) {
    const View weights = transposed(own(RecurrentInput::kWeights), {1, 0});
    sums_ = with_biases(multiply_matrices(context, input, weights, name_ + "_inputs", type_));
    recurrent_weights_ = transposed(own(RecurrentInput::kRecurrentWeights), {1, 0});
    state_ = part(sums_, 0);
  }

  RecurrentDirection made() { return gates_ == 4 ? lstm() : gates_ == 3 ? gru() : rnn(); }

 private:
  RecurrentDirection rnn() {
    of_states_ = times_weights(state_, 0, 1, "_states");
    return {gate(0, functions_[0]), {}};
  }

  /// Gates: update, reset, new state.
  RecurrentDirection gru() {
    of_states_ = times_weights(state_, 0, resets_products_ ? 3 : 2, "_states");
    const View update = gate(0, functions_[0]), reset = gate(1, functions_[0]);
    const View hidden = resets_products_ ? gated_after_product(reset) : gated_before(reset);
    return {pointwise({update, hidden, state_}, "_state",
                      [](const auto& x) { return (number(1) - x[0]) * x[1] + x[0] * x[2]; }),
            {}};
  }

  View gated_after_product(const View& reset) {
    std::vector<View> views = {part(sums_, 2), reset, part(of_states_, 2)};
    if (has_recurrent_biases()) views.push_back(recurrent_bias(2));
    return applied(functions_[1], views, "_gate3", [&](const auto& x) {
      return x[0] + x[1] * (x.size() > 3 ? x[2] + x[3] : x[2]);
    });
  }

  View gated_before(const View& reset) {
    const View left =
        pointwise({reset, state_}, "_reset", [](const auto& x) { return x[0] * x[1]; });
    const View product = times_weights(left, 2, 1, "_resets");
    return applied(functions_[1], {part(sums_, 2), product}, "_gate3",
                   [](const auto& x) { return x[0] + x[1]; });
  }

  /// Gates: input, output, forget, cell; peepholes of the first three.
  RecurrentDirection lstm() {
    of_states_ = times_weights(state_, 0, 4, "_states");
    const View before = part(sums_, 1);  // stands for the last step's cell
    const View input = gate(0, functions_[0], &before);
    const View forget =
        context_.integer("input_forget", 0) != 0
            ? pointwise({input}, "_gate3", [](const auto& x) { return number(1) - x[0]; })
            : gate(2, functions_[0], &before);
    const View cells = pointwise({forget, before, input, gate(3, functions_[1])}, "_cell",
                                 [](const auto& x) { return x[0] * x[1] + x[2] * x[3]; });
    context_.cascade().tensors[cells.tensor].is_state = true;
    const View output = gate(1, functions_[0], &cells);
    const View seen = applied(functions_[2], {cells}, "_seen", [](const auto& x) { return x[0]; });
    const View states =
        pointwise({output, seen}, "_state", [](const auto& x) { return x[0] * x[1]; });
    return {states, cells};
  }

  /// A function of the sums of a gate; `cells` are seen through the peephole, if there is one.
  View gate(std::int64_t which, const CellFunction& function, const View* cells = nullptr) {
    std::vector<View> views = {part(sums_, which), part(of_states_, which)};
    const bool has_peephole = cells != nullptr && context_.has(RecurrentInput::kPeepholes);
    if (has_peephole) {
      views.push_back(
          context_.slice(own(RecurrentInput::kPeepholes), 0, which * hidden_, 1, hidden_, type_));
      views.push_back(*cells);
    }
    if (has_recurrent_biases()) views.push_back(recurrent_bias(which));
    return applied(function, views, fmt::format("_gate{}", which + 1), [&](const auto& x) {
      Expr sum = x[0] + x[1];
      if (has_peephole) sum = std::move(sum) + x[2] * x[3];
      if (has_recurrent_biases()) sum = std::move(sum) + x.back();
      return sum;
    });
  }

  /// Of inputs and of states; those of states stay apart where a product is reset after them.
  View with_biases(const View& products) {
    if (!context_.has(RecurrentInput::kBiases)) return products;
    const View biases = own(RecurrentInput::kBiases);
    std::vector<View> views = {products};
    for (const std::int64_t half : {0, 1})
      if (half == 0 || !resets_products_)
        views.push_back(
            context_.slice(biases, 0, half * gates_ * hidden_, 1, gates_ * hidden_, type_));
    return pointwise(views, "_biased", [](const auto& x) {
      Expr sum = x[0];
      for (std::size_t i = 1; i < x.size(); ++i) sum = std::move(sum) + x[i];
      return sum;
    });
  }

  bool has_recurrent_biases() const {
    return resets_products_ && context_.has(RecurrentInput::kBiases);
  }
  View recurrent_bias(std::int64_t gate) {
    return context_.slice(own(RecurrentInput::kBiases), 0, (gates_ + gate) * hidden_, 1, hidden_,
                          type_);
  }

  View times_weights(const View& states, std::int64_t gate, std::int64_t n_gates,
                     const std::string& ending) {
    const View weights =
        context_.slice(recurrent_weights_, 1, gate * hidden_, 1, n_gates * hidden_, type_);
    return multiply_matrices(context_, states, weights, name_ + ending, type_);
  }

  /// What a function makes of `argument`; where that would stand in it twice, it is made first.
  View applied(const CellFunction& function, const std::vector<View>& views,
               const std::string& ending, const Pointwise& argument) {
    const bool is_there = views.size() == 1 && function.clip == 0;
    if (function.reads_once || is_there)
      return pointwise(views, ending,
                       [&](const auto& x) { return function.of(function.clipped(argument(x))); });
    const View read_value = pointwise(views, ending + "_sum",
                                      [&](const auto& x) { return function.clipped(argument(x)); });
    return pointwise({read_value}, ending, [&](const auto& x) { return function.of(x[0]); });
  }

  View pointwise(const std::vector<View>& views, const std::string& ending,
                 const Pointwise& function) {
    return context_.pointwise(views, name_ + ending, type_, function);
  }

  /// The part of an input that is the direction's.
  View own(std::size_t input) {
    const Shape shape = context_.in(input).shape;
    const View part = context_.slice(context_.view(input), 0, which_, 1, 1, type_);
    return context_.reshape(part, Shape(shape.begin() + 1, shape.end()), type_);
  }

  View part(const View& gates, std::int64_t gate) {
    return context_.slice(gates, 2, gate * hidden_, 1, hidden_, type_);
  }

  NodeContext& context_;
  std::int64_t which_, gates_, hidden_;
  std::string name_;
  const CellFunction* functions_;
  ElementType type_;
  bool resets_products_;  ///< GRU's linear_before_reset
  View sums_, of_states_, state_, recurrent_weights_;
};

}  // namespace

RecurrentDirection write_direction(NodeContext& context, const View& input, std::int64_t which,
                                   std::int64_t gates, const std::string& name,
                                   const CellFunction* functions) {
  return Direction(context, input, which, gates, name, functions).made();
}

}  // namespace sluice::onnx_graph
