#include "onnx_graph/operators/softmax.h"

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

/// Up to opset 12, all dimensions from the axis on are one.
std::set<std::size_t> softmax_dimensions(NodeContext& context, std::size_t rank) {
  const bool is_flat = context.opset() < 13 && context.node().domain.empty();
  const std::size_t axis = context.axis(context.integer("axis", is_flat ? 1 : -1), rank);
  std::set<std::size_t> dimensions = {axis};
  for (std::size_t d = axis; is_flat && d < rank; ++d) dimensions.insert(d);
  return dimensions;
}

void softmax_of(NodeContext& context) {
  const Value input = context.in(0);
  context.set(0,
              softmax(context, context.view(0), softmax_dimensions(context, input.shape.size()),
                      context.output_name(), input.type),
              input.type, true);
}

void log_softmax(NodeContext& context) {
  const Value input = context.in(0);
  const auto dimensions = softmax_dimensions(context, input.shape.size());
  const std::string name = context.output_name();
  const View x = context.view(0);
  const auto same = [](const auto& v) { return v[0]; };
  const View largest =
      context.reduced({x}, dimensions, Reducing::kMax, name + "_max", input.type, same);
  const View sum =
      context.reduced({x, largest}, dimensions, Reducing::kSum, name + "_sum", input.type,
                      [](const auto& v) { return apply("exp", {v[0] - v[1]}); });
  const View log = context.pointwise({sum}, name + "_log", input.type,
                                     [](const auto& v) { return apply("log", {v[0]}); });
  context.set(0,
              context.pointwise({x, largest, log}, name, input.type,
                                [](const auto& v) { return v[0] - v[1] - v[2]; }),
              input.type);
}

void hardmax(NodeContext& context) {
  const Value input = context.in(0);
  const auto dimensions = softmax_dimensions(context, input.shape.size());
  const View x = context.view(0);
  const View largest =
      context.reduced({x}, dimensions, Reducing::kMax, context.output_name() + "_max", input.type,
                      [](const auto& v) { return v[0]; });
  context.set(0,
              context.pointwise({x, largest}, context.output_name(), input.type,
                                [](const auto& v) { return apply("step", {v[0] - v[1]}); }),
              input.type, true);
}

}  // namespace

View softmax(NodeContext& context, const View& input, const std::set<std::size_t>& dimensions,
             const std::string& name, ElementType type, double scale) {
  const View largest = context.reduced({input}, dimensions, Reducing::kMax, name + "_max", type,
                                       [](const auto& v) { return v[0]; });
  const View exponentials =
      context.pointwise({input, largest}, name + "_exp", type, [&](const auto& v) {
        const Expr difference = v[0] - v[1];
        return apply("exp", {scale == 1 ? difference : difference * number(scale)});
      });
  const View sum = context.reduced({exponentials}, dimensions, Reducing::kSum, name + "_sum", type,
                                   [](const auto& v) { return v[0]; });
  return context.pointwise({exponentials, sum}, name, type,
                           [](const auto& v) { return v[0] / v[1]; });
}

void add_softmax(OperatorTable& table) {
  table["Softmax"] = softmax_of;
  table["LogSoftmax"] = log_softmax;
  table["Hardmax"] = hardmax;
}

}  // namespace sluice::onnx_graph
