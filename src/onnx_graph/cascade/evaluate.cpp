#include "onnx_graph/cascade/evaluate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::onnx_graph {
namespace {

constexpr std::int64_t kMostPoints = 1 << 23;

using ScalarFunction = double (*)(double, double, double);

ScalarFunction function_of(const std::string& operation) {
  static const std::map<std::string, ScalarFunction> functions = {
      {"add", [](double a, double b, double) { return a + b; }},
      {"sub", [](double a, double b, double) { return a - b; }},
      {"mul", [](double a, double b, double) { return a * b; }},
      {"div", [](double a, double b, double) { return a / b; }},
      {"min", [](double a, double b, double) { return std::fmin(a, b); }},
      {"max", [](double a, double b, double) { return std::fmax(a, b); }},
      {"neg", [](double a, double, double) { return -a; }},
      {"abs", [](double a, double, double) { return std::abs(a); }},
      {"exp", [](double a, double, double) { return std::exp(a); }},
      {"log", [](double a, double, double) { return std::log(a); }},
      {"sqrt", [](double a, double, double) { return std::sqrt(a); }},
      {"rsqrt", [](double a, double, double) { return 1 / std::sqrt(a); }},
      {"tanh", [](double a, double, double) { return std::tanh(a); }},
      {"sigmoid", [](double a, double, double) { return 1 / (1 + std::exp(-a)); }},
      {"erf", [](double a, double, double) { return std::erf(a); }},
      {"sin", [](double a, double, double) { return std::sin(a); }},
      {"cos", [](double a, double, double) { return std::cos(a); }},
      {"square", [](double a, double, double) { return a * a; }},
      {"relu", [](double a, double, double) { return std::fmax(a, 0); }},
      {"step", [](double a, double, double) { return a >= 0 ? 1.0 : 0.0; }},
      {"select", [](double a, double b, double c) { return a != 0 ? b : c; }},
  };
  const auto found = functions.find(operation);
  if (found == functions.end()) throw std::out_of_range(operation);
  return found->second;
}

/// An expression in the order of its evaluation.
class Program {
 public:
  explicit Program(const Expr& expression) { add(expression); }

  double run(const std::vector<double>& read_values) {
    stack_.clear();
    for (const Step& step : steps_) {
      if (step.function == nullptr) {
        stack_.push_back(step.access ? read_values[*step.access] : step.value);
        continue;
      }
      double operands[3] = {0, 0, 0};
      for (std::size_t i = step.arity; i-- > 0; stack_.pop_back()) operands[i] = stack_.back();
      stack_.push_back(step.function(operands[0], operands[1], operands[2]));
    }
    return stack_.back();
  }

 private:
  struct Step {
    std::optional<std::size_t> access;
    double value = 0;
    ScalarFunction function = nullptr;
    std::size_t arity = 0;
  };

  void add(const Expr& expression) {
    for (const Expr& operand : expression.operands) add(operand);
    Step step;
    if (expression.kind == Expr::Kind::kAccess) step.access = expression.access;
    step.value = expression.value;
    if (expression.kind == Expr::Kind::kOperation) {
      step.function = function_of(expression.operation);
      step.arity = expression.operands.size();
    }
    steps_.push_back(step);
  }

  std::vector<Step> steps_;
  std::vector<double> stack_;
};

/// The place of an element in its tensor; nothing beside it.
std::optional<std::size_t> place_of(const Cascade& cascade, std::size_t tensor,
                                    const std::vector<Index>& indices,
                                    const std::vector<std::int64_t>& at) {
  std::int64_t place = 0;
  for (std::size_t r = 0; r < indices.size(); ++r) {
    std::int64_t index = indices[r].constant;
    for (const Index::Term& term : indices[r].terms) index += term.coefficient * at[term.variable];
    const std::int64_t size = cascade.axes[cascade.tensors[tensor].ranks[r]].size;
    if (index < 0 || index >= size) return std::nullopt;
    place = place * size + index;
  }
  return static_cast<std::size_t>(place);
}

/// The next point, the last variable first; false behind the last one.
bool advance(std::vector<std::int64_t>& at,
             const std::vector<std::pair<std::size_t, std::int64_t>>& variables) {
  for (std::size_t v = variables.size(); v-- > 0;) {
    if (++at[variables[v].first] < variables[v].second) return true;
    at[variables[v].first] = 0;
  }
  return false;
}

double combined(Reducing reduction, double a, double b) {
  switch (reduction) {
    case Reducing::kSum:
      return a + b;
    case Reducing::kProduct:
      return a * b;
    case Reducing::kMin:
      return std::fmin(a, b);
    case Reducing::kMax:
      return std::fmax(a, b);
    case Reducing::kNone:
      break;
  }
  return b;
}

/// False where a value is missing.
bool run(const Cascade& cascade, const CascadeEinsum& einsum, TensorValues& values) {
  for (const CascadeAccess& access : einsum.inputs)
    if (values.count(access.tensor) == 0) return false;
  const CascadeTensor& made = cascade.tensors[einsum.output.tensor];
  std::vector<double>& output =
      values
          .try_emplace(einsum.output.tensor,
                       static_cast<std::size_t>(cascade.volume(einsum.output.tensor)),
                       made.initial.value_or(0))
          .first->second;
  std::vector<bool> is_written(output.size());
  std::vector<std::int64_t> at(cascade.axes.size());
  std::vector<std::pair<std::size_t, std::int64_t>> variables;
  for (const std::size_t axis : cascade.axes_of(einsum))
    variables.emplace_back(axis, cascade.axes[axis].size);
  Program program(einsum.expression);
  std::vector<double> read_values(einsum.inputs.size());
  do {
    const auto place = place_of(cascade, einsum.output.tensor, einsum.output.indices, at);
    if (!place) continue;
    for (std::size_t i = 0; i < read_values.size(); ++i) {
      const CascadeAccess& access = einsum.inputs[i];
      const auto from = place_of(cascade, access.tensor, access.indices, at);
      read_values[i] = from ? values.at(access.tensor)[*from] : 0;
    }
    const double value = program.run(read_values);
    output[*place] = is_written[*place] ? combined(einsum.reduction, output[*place], value) : value;
    is_written[*place] = true;
  } while (advance(at, variables));
  return true;
}

}  // namespace

std::optional<TensorValues> evaluate(const Cascade& cascade, TensorValues given) {
  std::int64_t points = 0;
  for (const CascadeTensor& tensor : cascade.tensors)
    if (tensor.is_state) return std::nullopt;
  for (const CascadeEinsum& einsum : cascade.einsums) {
    points += std::min(cascade.points_of(einsum), kMostPoints) +
              std::min(cascade.volume(einsum.output.tensor), kMostPoints);
    if (points > kMostPoints) return std::nullopt;
  }
  for (const CascadeEinsum& einsum : cascade.einsums)
    if (!run(cascade, einsum, given)) return std::nullopt;
  return given;
}

std::vector<double> values_under(const Cascade& cascade, const View& view,
                                 const TensorValues& values) {
  std::vector<std::int64_t> at(view.n_slots);
  std::vector<std::pair<std::size_t, std::int64_t>> variables;
  for (const Digits& digits : view.dimensions)
    for (const Digit& digit : digits) variables.emplace_back(digit.slot, digit.size);
  std::vector<double> result;
  do {
    const auto place = place_of(cascade, view.tensor, view.projection, at);
    result.push_back(values.at(view.tensor).at(place.value()));
  } while (advance(at, variables));
  return result;
}

}  // namespace sluice::onnx_graph
