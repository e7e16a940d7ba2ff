#include "onnx_graph/walk/bodies.h"

#include <fmt/format.h>

#include "onnx_graph/operators/joins.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::int64_t kMostNodesOfSteps = 4096;  ///< of a body, all its runs together

const Graph& body_of(NodeContext& context) {
  const Attribute* body = context.node().find("body");
  if (body == nullptr || !body->graph) context.fail("its body is missing");
  return *body->graph;
}

void check_steps(NodeContext& context, const Graph& body, std::int64_t steps) {
  const auto nodes = static_cast<std::int64_t>(body.nodes.size());
  if (steps < 1) context.fail("its body does not run at all");
  if (steps > kMostNodesOfSteps || steps * nodes > kMostNodesOfSteps)
    context.fail(fmt::format("its body runs {} times: {} nodes are too many", steps, steps * nodes),
                 "export the model with fewer steps, or with one operator for the loop");
}

/// Values of one run that are put together, one behind the other along a new axis.
class Collected {
 public:
  explicit Collected(std::size_t n) : parts_(n) {}

  void take(NodeContext& context, std::size_t which, const std::string& name, std::int64_t axis) {
    const Value value = context.lowering().values.at(name);
    View view = context.view(name);
    const std::size_t at = context.axis(axis, value.shape.size() + 1);
    view.dimensions.insert(view.dimensions.begin() + static_cast<std::ptrdiff_t>(at), Digits{});
    parts_[which].axis = at;
    parts_[which].type = value.type;
    parts_[which].views.push_back(std::move(view));
  }

  void publish(NodeContext& context, std::size_t first_output) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t output = first_output + i;
      if (output >= context.node().outputs.size() || context.node().outputs[output].empty())
        continue;
      Node node;
      node.outputs = {context.node().outputs[output]};
      NodeContext own(context.lowering(), node, context.record());
      Part& part = parts_[i];
      own.set(0,
              part.views.size() == 1 ? part.views[0]
                                     : join(own, std::move(part.views), part.axis, part.type),
              part.type);
    }
  }

 private:
  struct Part {
    std::vector<View> views;
    std::size_t axis = 0;
    ElementType type = ElementType::kFloat;
  };
  std::vector<Part> parts_;
};

std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i) {
  return i < list.size() ? list[i] : 0;
}

/// Whether the body made all its outputs.
bool is_made(NodeContext& context, const Graph& graph, const BodyWalk& walk) {
  for (const ValueInfo& output : graph.outputs) {
    if (walk.is_broken(output.name)) return false;
    if (context.lowering().values.count(output.name) == 0)
      context.fail("its body does not make its output");
  }
  return true;
}

}  // namespace

void choose_branch(NodeContext& context, const BodyWalk& walk) {
  const Node& node = context.node();
  const Attribute *then_branch = node.find("then_branch"), *else_branch = node.find("else_branch");
  if (then_branch == nullptr || else_branch == nullptr || !then_branch->graph ||
      !else_branch->graph)
    context.fail("a branch is missing");
  const auto condition = context.scalar(0);
  bool takes_then = condition.value_or(0) != 0;
  if (!condition) {
    context.approximate("which branch it takes is not known before the run: the longer one counts");
    takes_then = then_branch->graph->nodes.size() >= else_branch->graph->nodes.size();
  }
  const Graph& graph = takes_then ? *then_branch->graph : *else_branch->graph;
  walk.run(graph);
  for (std::size_t o = 0; o < node.outputs.size() && o < graph.outputs.size(); ++o) {
    if (walk.is_broken(graph.outputs[o].name)) return walk.give_up();
    const auto found = context.lowering().values.find(graph.outputs[o].name);
    if (found == context.lowering().values.end())
      context.fail("its branch does not make its output");
    const Value value = found->second;
    context.lowering().values[node.outputs[o]] = value;
  }
}

void unroll_scan(NodeContext& context, const BodyWalk& walk) {
  const Graph& body = body_of(context);
  const Node& node = context.node();
  const auto n_scanned = static_cast<std::size_t>(context.integer("num_scan_inputs", 0));
  if (context.opset() < 9) context.fail("Scan before opset 9 is not supported");
  if (n_scanned < 1 || n_scanned > node.inputs.size() || body.inputs.size() != node.inputs.size() ||
      body.outputs.size() != node.outputs.size())
    context.fail("its body does not fit its inputs and outputs");
  const std::size_t n_states = node.inputs.size() - n_scanned;
  if (n_states > body.outputs.size()) context.fail("its body makes too few states");
  const auto axes = context.integers("scan_input_axes"),
             backwards = context.integers("scan_input_directions");
  const auto out_axes = context.integers("scan_output_axes");
  const auto out_backwards = context.integers("scan_output_directions");
  const auto scanned_axis = [&](std::size_t i) {
    return context.axis(entry(axes, i), context.in(n_states + i).shape.size());
  };
  const std::int64_t steps = context.in(n_states).shape.at(scanned_axis(0));
  check_steps(context, body, steps);
  auto& values = context.lowering().values;
  std::vector<Value> states;
  for (std::size_t i = 0; i < n_states; ++i) states.push_back(context.in(i));
  for (const std::int64_t direction : out_backwards)
    if (direction != 0) context.approximate("outputs are put together in the order of the steps");
  Collected collected(body.outputs.size() - n_states);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < n_states; ++i) values[body.inputs[i].name] = states[i];
    for (std::size_t i = 0; i < n_scanned; ++i) {
      const Value all = context.in(n_states + i);
      const std::size_t axis = scanned_axis(i);
      const std::int64_t at = entry(backwards, i) != 0 ? steps - 1 - step : step;
      Value one;
      one.type = all.type;
      one.view = context.slice(context.view(n_states + i), axis, at, 1, 1, all.type);
      one.view->dimensions.erase(one.view->dimensions.begin() + static_cast<std::ptrdiff_t>(axis));
      one.shape = shape_of(*one.view);
      values[body.inputs[n_states + i].name] = std::move(one);
    }
    walk.run(body);
    if (!is_made(context, body, walk)) return walk.give_up();
    for (std::size_t i = 0; i < n_states; ++i) states[i] = values.at(body.outputs[i].name);
    for (std::size_t i = n_states; i < body.outputs.size(); ++i)
      collected.take(context, i - n_states, body.outputs[i].name, entry(out_axes, i - n_states));
  }
  for (std::size_t i = 0; i < n_states; ++i)
    if (!node.outputs[i].empty()) values[node.outputs[i]] = states[i];
  collected.publish(context, n_states);
}

void unroll_loop(NodeContext& context, const BodyWalk& walk) {
  const Graph& body = body_of(context);
  const Node& node = context.node();
  if (node.inputs.size() < 2 || body.inputs.size() != node.inputs.size() ||
      body.outputs.size() + 1 < node.inputs.size() ||
      node.outputs.size() + 1 != body.outputs.size())
    context.fail("its body does not fit its inputs and outputs");
  const auto limit = context.known_integers(0);
  const bool may_end_early = context.has(1);
  if (context.has(0) && !(limit && limit->size() == 1))
    context.fail("how often its body runs is not known before the run",
                 "docs/refusals.md lists what is refused; export the model with the loop unrolled");
  auto& values = context.lowering().values;
  const std::size_t n_states = node.inputs.size() - 2;
  std::vector<Value> states;
  for (std::size_t i = 0; i < n_states; ++i) states.push_back(context.in(i + 2));
  std::optional<double> goes_on = may_end_early ? context.scalar(1) : std::optional(1.0);
  Collected collected(body.outputs.size() - 1 - n_states);
  std::int64_t step = 0;
  for (; !limit || step < limit->front(); ++step) {
    if (!goes_on && !limit)
      context.fail(
          "how often its body runs is not known before the run",
          "docs/refusals.md lists what is refused; export the model with the loop unrolled");
    if (!goes_on) context.approximate("it may end early: it runs to its limit");
    if (goes_on == 0.0) break;
    check_steps(context, body, step + 1);
    Constant number;
    number.type = ElementType::kInt64;
    number.integers = {step};
    Constant truth;
    truth.type = ElementType::kBool;
    truth.integers = {1};
    for (std::size_t i = 0; i < 2; ++i) {
      Value value;
      value.constant = std::make_shared<Constant>(i == 0 ? number : truth);
      value.type = value.constant->type;
      values[body.inputs[i].name] = std::move(value);
    }
    for (std::size_t i = 0; i < n_states; ++i) values[body.inputs[i + 2].name] = states[i];
    walk.run(body);
    if (!is_made(context, body, walk)) return walk.give_up();
    const Value& condition = values.at(body.outputs[0].name);
    goes_on = condition.constant && condition.constant->has_numbers()
                  ? std::optional(condition.constant->number(0))
                  : std::nullopt;
    for (std::size_t i = 0; i < n_states; ++i) states[i] = values.at(body.outputs[i + 1].name);
    for (std::size_t i = n_states + 1; i < body.outputs.size(); ++i)
      collected.take(context, i - n_states - 1, body.outputs[i].name, 0);
  }
  if (step == 0) context.fail("its body does not run at all");
  for (std::size_t i = 0; i < n_states; ++i)
    if (!node.outputs[i].empty()) values[node.outputs[i]] = states[i];
  collected.publish(context, n_states);
}

}  // namespace sluice::onnx_graph
