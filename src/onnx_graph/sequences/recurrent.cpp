#include <fmt/format.h>

#include "onnx_graph/operators/joins.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/sequences/recurrent_direction.h"

namespace sluice::onnx_graph {
namespace {

void check_shapes(const NodeContext& context, std::int64_t gates) {
  const Shape &input = context.in(0).shape,
              &r = context.in(RecurrentInput::kRecurrentWeights).shape;
  if (input.size() != 3 || r.size() != 3 || r[0] > 2 || r[2] > 1 << 28 || r[1] != gates * r[2] ||
      context.in(RecurrentInput::kWeights).shape != Shape{r[0], r[1], input[2]} ||
      (context.has(RecurrentInput::kBiases) &&
       context.in(RecurrentInput::kBiases).shape != Shape{r[0], 2 * r[1]}))
    context.fail("its weights do not fit its input");
  if (context.has(RecurrentInput::kPeepholes) &&
      context.in(RecurrentInput::kPeepholes).shape != Shape{r[0], 3 * r[2]})
    context.fail("its peepholes do not fit its weights");
}

std::vector<std::string> what_is_left_out(const NodeContext& context, std::int64_t directions) {
  std::vector<std::string> notes = {
      "steps do not wait for each other, and values of the same step stand for the states of the "
      "last one: products and functions are counted exactly, what states move is not"};
  if (context.has(RecurrentInput::kSequenceLengths))
    notes.emplace_back("sequence_lens is not read: all sequences are as long as the longest");
  if (context.has(RecurrentInput::kInitialState)) notes.emplace_back("initial_h is not read");
  if (context.has(RecurrentInput::kInitialCell)) notes.emplace_back("initial_c is not read");
  if (context.integer("input_forget", 0) != 0)
    notes.emplace_back(
        "weights of the forget gate are multiplied, though input_forget needs no sum of it");
  const auto& outputs = context.node().outputs;
  if (directions > 1 && outputs.size() > 2 && !outputs[2].empty())
    notes.emplace_back("the last cells of one direction stand for those of both");
  return notes;
}

/// Puts out what the directions have made; its steps come first.
void put_out(NodeContext& context, std::vector<RecurrentDirection> directions) {
  const ElementType type = context.in(0).type;
  const bool is_batch_first = context.integer("layout", 0) != 0;
  const auto n = static_cast<std::int64_t>(directions.size());
  std::vector<View> parts;
  for (RecurrentDirection& made : directions) {
    made.states.dimensions.insert(made.states.dimensions.begin() + 1, Digits{});
    parts.push_back(made.states);
  }
  const View states = n == 1 ? parts[0] : join(context, parts, 1, type);
  const std::int64_t steps = shape_of(states)[0];
  View last = context.slice(states, 0, steps - 1, 1, 1, type);
  last.dimensions.erase(last.dimensions.begin());
  const auto turned = [&](const View& view, const std::vector<std::size_t>& order) {
    return is_batch_first ? transposed(view, order) : view;
  };
  context.set(0, turned(states, {2, 0, 1, 3}), type);
  context.set(1, turned(last, {1, 0, 2}), type);
  if (directions.back().cells.dimensions.empty()) return;
  View cells = context.slice(directions.back().cells, 0, steps - 1, 1, 1, type);
  if (n > 1) repeat(cells, 0, n);
  context.set(2, turned(cells, {1, 0, 2}), type);
}

std::vector<std::string> usual_functions(int gates) {
  if (gates == 1) return {"Tanh"};
  if (gates == 3) return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

template <int Gates>
void recurrent(NodeContext& context) {
  check_shapes(context, Gates);
  const std::int64_t n_directions = context.in(RecurrentInput::kRecurrentWeights).shape[0];
  std::vector<std::string> notes = what_is_left_out(context, n_directions);
  const std::vector<std::string> usual = usual_functions(Gates);
  const std::vector<CellFunction> functions = cell_functions(context, usual, n_directions, notes);
  context.approximate(fmt::format("{}", fmt::join(notes, "; ")));
  View x = context.view(0);
  if (context.integer("layout", 0) != 0) x = transposed(x, {1, 0, 2});
  std::vector<RecurrentDirection> made;
  for (std::int64_t d = 0; d < n_directions; ++d) {
    const std::string name = context.output_name() + "_cell";
    made.push_back(write_direction(context, x, d, Gates,
                                   n_directions == 1 ? name : fmt::format("{}{}", name, d + 1),
                                   &functions[usual.size() * static_cast<std::size_t>(d)]));
  }
  put_out(context, std::move(made));
}

}  // namespace

void add_recurrent(OperatorTable& table) {
  table["LSTM"] = recurrent<4>;
  table["GRU"] = recurrent<3>;
  table["RNN"] = recurrent<1>;
}

}  // namespace sluice::onnx_graph
