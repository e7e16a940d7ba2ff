#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

bool fits(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t wanted = to[to.size() - from.size() + i];
    if (from[i] != 1 && from[i] != wanted) return false;
  }
  return true;
}

/// Known indices, axes and sizes, which are no parameters.
bool is_place(const Value& value) {
  return value.constant && (value.type == ElementType::kInt64 || value.type == ElementType::kInt32);
}

/// One value for all of an input's: each is read and added up.
View summary(NodeContext& context, const View& view, std::size_t input, ElementType type) {
  std::set<std::size_t> all;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) all.insert(d);
  View result = context.reduced({view}, all, Reducing::kSum,
                                context.output_name() + "_input" + std::to_string(input + 1), type,
                                [](const auto& x) { return x[0]; });
  result.dimensions.clear();
  return result;
}

}  // namespace

void price_per_element(NodeContext& context, const std::vector<Shape>& shapes,
                       const std::vector<ElementType>& types) {
  ElementType type = ElementType::kFloat;
  std::vector<View> read_views;
  std::vector<Shape> read_shapes;
  for (std::size_t i = 0; i < context.n_inputs(); ++i) {
    if (!context.has(i) || context.scalar(i)) continue;
    if (read_views.empty()) type = context.in(i).type;
    read_views.push_back(is_place(context.in(i)) ? context.uncounted_view(i) : context.view(i));
    read_shapes.push_back(context.in(i).shape);
  }
  if (read_views.empty()) context.fail("it reads nothing, and its values are not known");
  for (std::size_t output = 0; output < shapes.size(); ++output) {
    if (output >= context.node().outputs.size() || context.node().outputs[output].empty()) continue;
    std::vector<View> views;
    for (std::size_t i = 0; i < read_views.size(); ++i) {
      if (!fits(read_shapes[i], shapes[output])) {
        read_views[i] = summary(context, read_views[i], i, type);
        read_shapes[i].clear();
      }
      views.push_back(read_views[i]);
    }
    Shape together = broadcast(context, [&] {
      std::vector<Shape> all;
      for (const View& view : views) all.push_back(shape_of(view));
      return all;
    }());
    View first = views[0];  // repeated over the dimensions that no input has
    while (first.dimensions.size() < shapes[output].size())
      first.dimensions.insert(first.dimensions.begin(), Digits{});
    together.insert(together.begin(), shapes[output].size() - together.size(), 1);
    for (std::size_t d = 0; d < shapes[output].size(); ++d)
      if (first.dimensions[d].empty() && together[d] == 1) repeat(first, d, shapes[output][d]);
    views[0] = first;
    const ElementType made = output < types.size() ? types[output] : type;
    context.set(output,
                context.pointwise(views, context.output_name(output), made,
                                  [](const auto& x) {
                                    Expr all = x[0];
                                    for (std::size_t i = 1; i < x.size(); ++i)
                                      all = std::move(all) + x[i];
                                    return all;
                                  }),
                made);
  }
}

}  // namespace sluice::onnx_graph
