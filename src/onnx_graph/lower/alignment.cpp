#include <fmt/format.h>

#include <algorithm>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {
namespace {

std::vector<std::int64_t> sizes_of(const Digits& digits) {
  std::vector<std::int64_t> sizes;
  for (const Digit& digit : digits) sizes.push_back(digit.size);
  return sizes;
}

std::string letter_for(std::size_t dimension, std::size_t rank) {
  static const std::vector<std::vector<const char*>> letters = {
      {"D"}, {"M", "D"}, {"B", "M", "D"}, {"N", "C", "H", "W"}, {"N", "C", "D", "H", "W"}};
  if (rank == 0 || rank > letters.size()) return "I";
  return letters[rank - 1][dimension];
}

/// A dimension that is reduced and of which nothing but repetitions is read: an Einsum walks only
/// what its accesses say.
std::optional<std::size_t> repeated_dimension(const Aligned& aligned,
                                              const std::set<std::size_t>& reduced) {
  for (const std::size_t d : reduced)
    for (const std::size_t axis : aligned.axes[d])
      if (!walks(aligned.accesses, axis)) return d;
  return std::nullopt;
}

}  // namespace

bool walks(const std::vector<CascadeAccess>& accesses, std::size_t axis) {
  for (const CascadeAccess& access : accesses)
    for (const Index& index : access.indices)
      for (const Index::Term& term : index.terms)
        if (term.variable == axis) return true;
  return false;
}

CascadeAccess NodeContext::access(const View& taken,
                                  const std::vector<std::vector<std::size_t>>& axes) const {
  const View view = current(taken);
  std::vector<Index> by_slot(view.n_slots);
  for (std::size_t d = 0; d < view.dimensions.size(); ++d)
    for (std::size_t i = 0; i < view.dimensions[d].size(); ++i)
      by_slot[view.dimensions[d][i].slot] = Index::of(axes[d][i]);
  CascadeAccess access;
  access.tensor = view.tensor;
  for (const Index& index : view.projection) access.indices.push_back(substitute(index, by_slot));
  return access;
}

void NodeContext::match(std::vector<View>& views,
                        const std::vector<std::pair<std::size_t, std::size_t>>& same) {
  std::vector<std::vector<std::int64_t>> lists;
  for (const auto& [view, dimension] : same)
    lists.push_back(sizes_of(views[view].dimensions[dimension]));
  auto sizes = common_refinement(lists);
  if (!sizes) {
    for (const auto& [view, dimension] : same)
      if (views[view].dimensions[dimension].size() > 1)
        views[view] = copied(views[view], ElementType::kUndefined, output_name() + "_copied");
    lists.clear();
    for (const auto& [view, dimension] : same)
      lists.push_back(sizes_of(views[view].dimensions[dimension]));
    sizes = common_refinement(lists);
  }
  if (!sizes) fail("sizes of its inputs differ");
  for (const auto& [view, dimension] : same)
    if (!refine(views[view], dimension, *sizes)) fail("sizes of its inputs differ");
}

std::vector<std::size_t> NodeContext::axes_for(const View& view, std::size_t dimension,
                                               const std::string& letter,
                                               std::set<std::size_t>& used) {
  std::vector<std::size_t> axes;
  for (const Digit& digit : view.dimensions[dimension]) {
    std::optional<std::size_t> found;
    const CascadeTensor& tensor = cascade().tensors[view.tensor];
    for (std::size_t r = 0; r < view.projection.size(); ++r)
      if (view.projection[r].is_plain() && view.projection[r].terms[0].variable == digit.slot &&
          tensor.kind != TensorKind::kConstant &&
          cascade().axes[tensor.ranks[r]].size == digit.size)
        found = tensor.ranks[r];
    if (!found || !used.insert(*found).second) {
      found = cascade().add_axis(letter, digit.size);
      used.insert(*found);
    }
    axes.push_back(*found);
  }
  return axes;
}

Aligned NodeContext::align(std::vector<View> views, const Shape& shape) {
  Aligned result;
  std::vector<std::vector<std::vector<std::size_t>>> axes_of_view(views.size());
  for (std::size_t v = 0; v < views.size(); ++v) axes_of_view[v].resize(views[v].dimensions.size());
  std::set<std::size_t> used;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> users(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (std::size_t v = 0; v < views.size(); ++v) {
      const std::size_t offset = shape.size() - views[v].dimensions.size();
      if (d >= offset && !views[v].dimensions[d - offset].empty())
        users[d].emplace_back(v, d - offset);
    }
    if (users[d].size() > 1) match(views, users[d]);
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {  // a copy may have changed earlier dimensions
    if (users[d].size() > 1) match(views, users[d]);
    std::vector<std::size_t>& axes = result.axes.emplace_back();
    if (users[d].empty()) {
      if (shape[d] != 1) axes = {cascade().add_axis(letter_for(d, shape.size()), shape[d])};
      continue;
    }
    std::size_t best = 0;  // the first that lends its ranks' names
    for (std::size_t u = users[d].size(); u-- > 0;)
      if (cascade().tensors[views[users[d][u].first].tensor].kind != TensorKind::kConstant)
        best = u;
    axes = axes_for(views[users[d][best].first], users[d][best].second, letter_for(d, shape.size()),
                    used);
    for (const auto& [v, dimension] : users[d]) axes_of_view[v][dimension] = axes;
  }
  for (std::size_t v = 0; v < views.size(); ++v)
    result.accesses.push_back(access(views[v], axes_of_view[v]));
  return result;
}

View NodeContext::copied(const View& view, ElementType type, const std::string& name) {
  std::set<std::size_t> used;
  std::vector<std::vector<std::size_t>> axes, ranks;
  CascadeEinsum einsum;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    const std::string letter = letter_for(d, view.dimensions.size());
    axes.push_back(axes_for(view, d, letter, used));
    std::vector<std::size_t>& rank = ranks.emplace_back();
    if (view.dimensions[d].empty()) continue;
    Index index;
    std::int64_t weight = 1;
    for (std::size_t i = axes[d].size(); i-- > 0;) {
      index.terms.insert(index.terms.begin(), Index::Term{axes[d][i], weight});
      weight *= view.dimensions[d][i].size;
    }
    rank = {axes[d].size() == 1 ? axes[d][0] : cascade().add_axis(letter, weight)};
    einsum.output.indices.push_back(index);
  }
  einsum.output.tensor = new_tensor(name, type, ranks);
  if (type == ElementType::kUndefined)
    cascade().tensors[einsum.output.tensor].bits = cascade().tensors[view.tensor].bits;
  einsum.inputs = {access(view, axes)};
  einsum.expression = read(0);
  const std::size_t tensor = einsum.output.tensor;
  add(std::move(einsum));
  return view_of(cascade(), tensor, ranks);
}

View NodeContext::pointwise(const std::vector<View>& views, const std::string& name,
                            ElementType type, const Pointwise& function) {
  std::vector<Shape> shapes;
  for (const View& view : views) shapes.push_back(shape_of(view));
  return reduced(views, {}, Reducing::kNone, name, type, function);
}

View NodeContext::reduced(const std::vector<View>& views, const std::set<std::size_t>& dimensions,
                          Reducing reduction, const std::string& name, ElementType type,
                          const Pointwise& function) {
  std::vector<Shape> shapes;
  for (const View& view : views) shapes.push_back(shape_of(view));
  const Shape shape = broadcast(*this, shapes);
  Aligned aligned = align(views, shape);
  if (const auto repeated = repeated_dimension(aligned, dimensions)) {
    std::vector<View> whole = views;
    for (View& view : whole) {
      const std::size_t before = shape.size() - view.dimensions.size();
      if (*repeated < before || view.dimensions[*repeated - before].empty()) continue;
      view = copied(view, ElementType::kUndefined, name + "_repeated");
      break;
    }
    return reduced(whole, dimensions, reduction, name, type, function);
  }
  CascadeEinsum einsum;
  std::vector<Expr> reads;
  for (const CascadeAccess& access : aligned.accesses) {
    const auto known = std::find(einsum.inputs.begin(), einsum.inputs.end(), access);
    reads.push_back(read(static_cast<std::size_t>(known - einsum.inputs.begin())));
    if (known == einsum.inputs.end()) einsum.inputs.push_back(access);
  }
  einsum.expression = function(reads);
  bool reduces = false;
  for (const std::size_t d : dimensions) {
    reduces |= !aligned.axes[d].empty();
    aligned.axes[d].clear();
  }
  einsum.reduction = reduces ? reduction : Reducing::kNone;
  return make(std::move(einsum), aligned.axes, name, type);
}

View NodeContext::pointwise_inputs(const std::vector<std::size_t>& inputs, ElementType type,
                                   const Pointwise& function, const std::string& name) {
  std::vector<View> views;
  std::vector<std::optional<double>> numbers;
  for (const std::size_t input : inputs) {
    numbers.push_back(scalar(input));
    if (!numbers.back()) views.push_back(view(input));
  }
  if (views.empty()) {  // all known, and nothing to read: one value of its own
    views.push_back(view(inputs[0]));
    numbers[0].reset();
  }
  Shape shape;
  {
    std::vector<Shape> shapes;
    for (const std::size_t input : inputs) shapes.push_back(in(input).shape);
    shape = broadcast(*this, shapes);
  }
  View result = pointwise(
      views, name.empty() ? output_name() : name, type, [&](const std::vector<Expr>& read_values) {
        std::vector<Expr> operands;
        std::size_t next = 0;
        for (const auto& known : numbers)
          operands.push_back(known ? onnx_graph::number(*known) : read_values[next++]);
        return function(operands);
      });
  while (result.dimensions.size() < shape.size())
    result.dimensions.insert(result.dimensions.begin(), Digits{});
  return result;
}

View NodeContext::reshape(const View& view, const Shape& shape, ElementType type) {
  if (volume(shape) != volume(shape_of(view)))
    fail(fmt::format("[{}] has another number of values than [{}]", fmt::join(shape_of(view), ", "),
                     fmt::join(shape, ", ")));
  if (const auto result = reshaped(view, shape)) return *result;
  // Digits that do not come apart: a copy with one rank for all.
  View flat = view;
  flat.dimensions = {Digits{}};
  for (const Digits& digits : view.dimensions)
    flat.dimensions[0].insert(flat.dimensions[0].end(), digits.begin(), digits.end());
  return *reshaped(copied(flat, type, output_name() + "_copied"), shape);
}

View NodeContext::slice(const View& view, std::size_t dimension, std::int64_t start,
                        std::int64_t step, std::int64_t count, ElementType type) {
  const bool fits = dimension < view.dimensions.size() && count >= 1 && start >= 0 &&
                    start < size_of(view.dimensions[dimension]);
  if (!fits) fail("a slice lies outside of its input");
  if (const auto result = sliced(view, dimension, start, step, count)) return *result;
  return *sliced(copied(view, type, output_name() + "_copied"), dimension, start, step, count);
}

}  // namespace sluice::onnx_graph
