#include "onnx_graph/walk/worked_out.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "onnx_graph/cascade/evaluate.h"
#include "onnx_graph/model/read_model.h"
#include "onnx_graph/model/schema_shapes.h"
#include "onnx_graph/operators/operators.h"
#include "sluice/support/checked.h"

namespace sluice::onnx_graph {
namespace {

/// Their results differ from run to run, or have sizes that are guessed.
bool is_open(const std::string& type) {
  static const std::set<std::string> types = {"NonZero", "NonMaxSuppression", "Compress",
                                              "Unique",  "Bernoulli",         "Multinomial"};
  return types.count(type) > 0;
}

TensorValues known_values(const Lowering& lowering) {
  TensorValues values;
  for (const auto& [tensor, constant] : lowering.constants) {
    const std::int64_t n = volume(constant->shape);
    if (n > kMostNumbersOfATensor || (!constant->has_numbers() && !constant->uniform)) continue;
    std::vector<double>& numbers = values[tensor];
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      numbers.push_back(constant->has_numbers() ? constant->number(i) : *constant->uniform);
  }
  return values;
}

void put_numbers(const std::vector<double>& numbers, Constant& constant) {
  const bool is_whole = is_integer(constant.type);
  const bool fits = std::all_of(numbers.begin(), numbers.end(), [&](double number) {
    return !std::isnan(number) &&
           (!is_whole || (std::abs(number) < 0x1p53 && number == std::floor(number)));
  });
  if (!fits) return;
  if (is_whole)
    constant.integers.emplace(numbers.begin(), numbers.end());
  else
    constant.reals = numbers;
}

std::optional<std::vector<Constant>> by_schema(const Node& node, const Lowering& lowering) {
  std::vector<TensorShape> inputs;
  std::vector<const Constant*> constants;
  for (const std::string& input : node.inputs) {
    const Value value = input.empty() ? Value() : lowering.values.at(input);
    inputs.push_back({value.type, value.shape});
    constants.push_back(input.empty() ? nullptr : lowering.values.at(input).constant.get());
  }
  const auto shapes = node.domain.empty()
                          ? shapes_by_schema(node, inputs, constants, lowering.opsets.at(""))
                          : std::nullopt;
  if (!shapes) return std::nullopt;
  std::vector<Constant> results(shapes->size());
  for (std::size_t o = 0; o < results.size(); ++o) {
    results[o].type = (*shapes)[o].type;
    results[o].shape = (*shapes)[o].shape;
  }
  return results;
}

std::optional<std::vector<Constant>> results_of(const Node& node, const Lowering& own) {
  const bool is_exact = own.records[0].approximations.empty();
  const auto values =
      is_exact ? evaluate(own.cascade, known_values(own)) : std::optional<TensorValues>();
  std::vector<Constant> results(node.outputs.size());
  for (std::size_t o = 0; o < results.size(); ++o) {
    if (node.outputs[o].empty()) continue;
    const Value& value = own.values.at(node.outputs[o]);
    if (!value.view && !value.constant) return std::nullopt;
    if (value.constant) {
      results[o] = *value.constant;
      continue;
    }
    results[o].type = value.type;
    results[o].shape = value.shape;
    if (values && volume(value.shape) <= kMostNumbersOfATensor &&
        values->count(value.view->tensor) > 0)
      put_numbers(values_under(own.cascade, *value.view, *values), results[o]);
  }
  return results;
}

}  // namespace

std::optional<std::vector<Constant>> worked_out(const Node& node, const Lowering& lowering) {
  const auto rule = all_operators().find(node.type);
  if (node.inputs.empty() || is_open(node.type) || lowering.opsets.at("") < 7) return std::nullopt;
  if (rule == all_operators().end()) return by_schema(node, lowering);
  Lowering own;
  own.opsets = lowering.opsets;
  own.declared_shape = lowering.declared_shape;
  own.open_size = lowering.open_size;
  own.records.emplace_back();
  for (const std::string& input : node.inputs) {
    if (input.empty()) continue;
    own.values[input] = lowering.values.at(input);
    own.values[input].view.reset();
  }
  NodeContext context(own, node, 0);
  try {
    rule->second(context);
    if (own.cascade.einsums.empty()) return std::nullopt;
    return results_of(node, own);
  } catch (const NodeMistake&) {
  } catch (const std::out_of_range&) {
  } catch (const OverflowError&) {
  }
  return std::nullopt;  // its rule says so once more, with the node's name
}

bool only_moves(const Node& node) {
  static const std::set<std::string> types = {
      "Reshape",  "Flatten",        "Squeeze",        "Unsqueeze", "Transpose", "Expand",
      "Tile",     "Slice",          "Split",          "Gather",    "Concat",    "Identity",
      "Cast",     "CastLike",       "SpaceToDepth",   "Pad",       "Dropout",   "DepthToSpace",
      "GatherND", "Trilu",          "GatherElements", "Constant",  "Shape",     "Size",
      "Range",    "ConstantOfShape"};
  return types.count(node.type) > 0;
}

}  // namespace sluice::onnx_graph
