#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

/// Outputs that lie where the first input does.
void set_same(NodeContext& context, std::size_t output, View view) {
  const Value input = context.in(0);
  context.set(output, std::move(view), input.type, input.is_nonnegative);
}

void identity(NodeContext& context) { set_same(context, 0, context.view(0)); }

/// Another width for the same values; to whole numbers and Booleans they are rounded.
void cast(NodeContext& context) {
  const Value input = context.in(0);
  const ElementType type = context.node().type == "CastLike"
                               ? context.in(1).type
                               : static_cast<ElementType>(context.integer("to", 1));
  if (type == ElementType::kBool && input.type != ElementType::kBool) {
    const View result =
        context.pointwise({context.view(0)}, context.output_name(), type,
                          [](const auto& x) { return greater(apply("abs", {x[0]}), number(0)); });
    return context.set(0, result, type, true);
  }
  if (is_integer(type) && !is_integer(input.type)) {
    const bool is_nonnegative = input.is_nonnegative;
    const View result =
        context.pointwise({context.view(0)}, context.output_name(), type, [&](const auto& x) {
          if (is_nonnegative) return floored(x[0]);
          const Expr sign = apply("step", {x[0]}) - apply("step", {number(0) - x[0]});
          return sign * floored(apply("abs", {x[0]}));
        });
    return context.set(0, result, type, is_nonnegative);
  }
  context.set(0, context.view(0), type, input.is_nonnegative);
}

Shape wanted_shape(NodeContext& context, const Shape& from) {
  if (!context.has_attribute("shape") && !context.known_integers(1))
    if (const auto declared = context.lowering().declared_shape(context.output_name()))
      return *declared;
  std::vector<std::int64_t> wanted =
      context.has_attribute("shape") ? context.integers("shape") : context.integers(1);
  const bool keeps_zero = context.integer("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == 0 && !keeps_zero) {
      if (d >= from.size()) context.fail("a 0 in its shape stands for no dimension of its input");
      wanted[d] = from[d];
    }
    if (wanted[d] == -1) {
      if (open) context.fail("its shape has two dimensions of -1");
      open = d;
    } else if (wanted[d] < 0) {
      context.fail(fmt::format("its shape has a dimension of {}", wanted[d]));
    } else {
      known = volume({known, wanted[d]});
    }
  }
  const std::int64_t values = volume(from);
  if (open) {
    if (known == 0 || values % known != 0)
      context.fail(fmt::format("{} values do not come apart in its shape", values));
    wanted[*open] = values / known;
  }
  return wanted;
}

void reshape(NodeContext& context) {
  const Value input = context.in(0);
  set_same(context, 0,
           context.reshape(context.view(0), wanted_shape(context, input.shape), input.type));
}

void flatten(NodeContext& context) {
  const Value input = context.in(0);
  const std::int64_t axis = context.integer("axis", 1);
  const std::int64_t rank = static_cast<std::int64_t>(input.shape.size());
  if (axis < -rank || axis > rank) context.fail(fmt::format("its axis is {}", axis));
  const auto at = input.shape.begin() + (axis < 0 ? axis + rank : axis);
  const Shape shape = {volume(Shape(input.shape.begin(), at)),
                       volume(Shape(at, input.shape.end()))};
  set_same(context, 0, context.reshape(context.view(0), shape, input.type));
}

void squeeze(NodeContext& context) {
  const Value input = context.in(0);
  const auto axes = context.attribute_or_input("axes", 1);
  std::set<std::size_t> gone;
  if (axes)
    for (const std::int64_t axis : *axes) gone.insert(context.axis(axis, input.shape.size()));
  Shape shape;
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    const bool leaves = axes ? gone.count(d) > 0 : input.shape[d] == 1;
    if (leaves && input.shape[d] != 1) context.fail("it leaves out a dimension of size over 1");
    if (!leaves) shape.push_back(input.shape[d]);
  }
  set_same(context, 0, context.reshape(context.view(0), shape, input.type));
}

void unsqueeze(NodeContext& context) {
  const Value input = context.in(0);
  const auto axes = context.attribute_or_input("axes", 1);
  if (!axes) context.fail("it says no axes");
  const std::size_t rank = input.shape.size() + axes->size();
  std::set<std::size_t> added;
  for (const std::int64_t axis : *axes) added.insert(context.axis(axis, rank));
  if (added.size() != axes->size()) context.fail("an axis stands twice");
  Shape shape = input.shape;
  for (const std::size_t d : added) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), 1);
  set_same(context, 0, context.reshape(context.view(0), shape, input.type));
}

void transpose(NodeContext& context) {
  const View view = context.view(0);
  const std::size_t rank = view.dimensions.size();
  std::vector<std::size_t> order;
  for (const std::int64_t axis : context.integers("perm"))
    order.push_back(context.axis(axis, rank));
  if (order.empty())
    for (std::size_t d = rank; d-- > 0;) order.push_back(d);
  if (order.size() != rank || std::set<std::size_t>(order.begin(), order.end()).size() != rank)
    context.fail("its perm is no order of its dimensions");
  set_same(context, 0, transposed(view, order));
}

void expand(NodeContext& context) {
  const Value input = context.in(0);
  View view = context.view(0);
  const std::vector<std::int64_t> wanted = context.integers(1);
  for (const std::int64_t size : wanted)
    if (size < 1) context.fail("its shape has a dimension without values");
  const Shape shape = broadcast(context, {input.shape, wanted});
  while (view.dimensions.size() < shape.size())
    view.dimensions.insert(view.dimensions.begin(), Digits{});
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (view.dimensions[d].empty()) repeat(view, d, shape[d]);
  set_same(context, 0, std::move(view));
}

void tile(NodeContext& context) {
  const Value input = context.in(0);
  const auto repeats = context.integers(1);
  if (repeats.size() != input.shape.size()) context.fail("its repeats do not fit its input");
  View view = context.view(0);
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 1) context.fail("nothing is left of its input");
    if (repeats[d] == 1) continue;
    View repeated = view;
    repeat(repeated, d, repeats[d]);
    view.n_slots = repeated.n_slots;
    view.dimensions[d].insert(view.dimensions[d].begin(), repeated.dimensions[d][0]);
  }
  set_same(context, 0, std::move(view));
}

/// First index, step and number of indices of a slice of a dimension.
struct Range {
  std::int64_t start = 0, step = 1, count = 0;
};

Range range_of(const NodeContext& context, std::int64_t start, std::int64_t end, std::int64_t step,
               std::int64_t size) {
  if (step == 0) context.fail("a step of its slice is 0");
  const auto bounded = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0) at = at < -size ? -size - 1 + size : at + size;
    return std::clamp(at, low, high);
  };
  Range range;
  range.step = step;
  range.start = step > 0 ? bounded(start, 0, size) : bounded(start, -1, size - 1);
  const std::int64_t last =
      step > 0 ? bounded(end, 0, size) : (end < -size ? -1 : bounded(end, -1, size - 1));
  const std::int64_t length = step > 0 ? last - range.start : range.start - last;
  const std::int64_t stride = step > 0 ? step
                                       : (step == std::numeric_limits<std::int64_t>::min()
                                              ? std::numeric_limits<std::int64_t>::max()
                                              : -step);
  range.count = length <= 0 ? 0 : (length - 1) / stride + 1;
  if (range.count == 1) range.step = 1;
  if (range.count == 0) context.fail("its slice has no values");
  return range;
}

void slice(NodeContext& context) {
  const Value input = context.in(0);
  const auto starts = context.attribute_or_input("starts", 1);
  const auto ends = context.attribute_or_input("ends", 2);
  const auto axes = context.attribute_or_input("axes", 3);
  const auto steps = context.has(4) ? std::optional(context.integers(4)) : std::nullopt;
  if (!starts || !ends || starts->size() != ends->size() ||
      (axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size()))
    context.fail("its starts, ends, axes and steps do not fit together");
  View view = context.view(0);
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::size_t d =
        context.axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), input.shape.size());
    const Range range = range_of(context, (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1,
                                 size_of(view.dimensions[d]));
    view = context.slice(view, d, range.start, range.step, range.count, input.type);
  }
  set_same(context, 0, std::move(view));
}

void split(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", 0), input.shape.size());
  const std::int64_t size = input.shape[axis];
  const std::size_t n = context.node().outputs.size();
  if (n == 0) context.fail("it has no outputs");
  auto parts = context.attribute_or_input("split", 1).value_or(std::vector<std::int64_t>());
  if (parts.empty()) {
    const std::int64_t each =
        (size + static_cast<std::int64_t>(n) - 1) / static_cast<std::int64_t>(n);
    for (std::int64_t at = 0; parts.size() < n; at += each)
      parts.push_back(std::min(each, size - at));
  }
  if (parts.size() != n) context.fail("it has another number of outputs than parts");
  std::int64_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (parts[i] < 0 || parts[i] > size - at) context.fail("its parts do not fit its input");
    if (parts[i] == 0) {
      Shape shape = input.shape;
      shape[axis] = 0;
      context.set_constant(i, empty_constant(input.type, shape), {});
      continue;
    }
    set_same(context, i, context.slice(context.view(0), axis, at, 1, parts[i], input.type));
    at += parts[i];
  }
}

/// Blocks of the plane as channels, and back: digits in another order.
void space_to_depth(NodeContext& context) {
  const Value input = context.in(0);
  const std::int64_t b = context.integer("blocksize", 1);
  const Shape& s = input.shape;
  if (s.size() != 4 || b < 1 || s[2] % b != 0 || s[3] % b != 0)
    context.fail("its plane does not come apart in blocks");
  View view = context.reshape(context.view(0), {s[0], s[1], s[2] / b, b, s[3] / b, b}, input.type);
  view = transposed(view, {0, 3, 5, 1, 2, 4});
  set_same(context, 0, context.reshape(view, {s[0], b * b * s[1], s[2] / b, s[3] / b}, input.type));
}

void depth_to_space(NodeContext& context) {
  const Value input = context.in(0);
  const std::int64_t b = context.integer("blocksize", 1);
  const Shape& s = input.shape;
  if (s.size() != 4 || b < 1 || b > 1 << 16 || s[1] % (b * b) != 0)
    context.fail("its channels do not come apart in blocks");
  const std::int64_t c = s[1] / (b * b);
  const bool is_crd = context.text("mode", "DCR") == "CRD";
  View view = context.reshape(
      context.view(0), is_crd ? Shape{s[0], c, b, b, s[2], s[3]} : Shape{s[0], b, b, c, s[2], s[3]},
      input.type);
  view = transposed(view, is_crd ? std::vector<std::size_t>{0, 1, 4, 2, 5, 3}
                                 : std::vector<std::size_t>{0, 3, 4, 1, 5, 2});
  set_same(context, 0, context.reshape(view, {s[0], c, s[2] * b, s[3] * b}, input.type));
}

/// At inference nothing is dropped; the mask is all true.
void dropout(NodeContext& context) {
  set_same(context, 0, context.view(0));
  if (context.node().outputs.size() < 2 || context.node().outputs[1].empty()) return;
  Constant mask;
  mask.type = ElementType::kBool;
  mask.shape = context.in(0).shape;
  mask.uniform = 1;
  context.set_constant(1, std::move(mask), {});
}

struct Pads {
  std::vector<std::int64_t> before, after;
  double value = 0;
};

Pads read_pads(NodeContext& context, std::size_t rank) {
  Pads pads;
  pads.before.assign(rank, 0);
  pads.after.assign(rank, 0);
  const char* name = context.has_attribute("paddings") ? "paddings" : "pads";
  const auto numbers = context.attribute_or_input(name, 1);
  std::vector<std::size_t> axes;
  if (context.has(3))
    for (const std::int64_t axis : context.integers(3)) axes.push_back(context.axis(axis, rank));
  else
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);
  if (!numbers || numbers->size() != 2 * axes.size()) context.fail("its pads do not fit its input");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    pads.before[axes[i]] = (*numbers)[i];
    pads.after[axes[i]] = (*numbers)[axes.size() + i];
    constexpr std::int64_t kLargest = std::int64_t{1} << 31;
    if (std::abs(pads.before[axes[i]]) > kLargest || std::abs(pads.after[axes[i]]) > kLargest)
      context.fail("a pad is too large");
  }
  pads.value = context.has(2) ? context.scalar(2).value_or(0) : context.real("value", 0);
  return pads;
}

/// A tensor with a border in which the input is written; what nobody writes has the value.
void put_border(NodeContext& context, const Pads& pads) {
  const Value input = context.in(0);
  View view = context.view(0);
  bool pads_anything = false;
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    pads_anything |= pads.before[d] > 0 || pads.after[d] > 0;
    if (pads.before[d] >= 0 && pads.after[d] >= 0) continue;
    const std::int64_t front = std::max<std::int64_t>(-pads.before[d], 0);
    const std::int64_t count = input.shape[d] - front - std::max<std::int64_t>(-pads.after[d], 0);
    if (count < 1) context.fail("nothing is left of its input");
    view = context.slice(view, d, front, 1, count, input.type);
  }
  if (!pads_anything) return set_same(context, 0, std::move(view));
  std::set<std::size_t> used;
  std::vector<std::vector<std::size_t>> axes, ranks;
  CascadeEinsum einsum;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    const std::int64_t before = std::max<std::int64_t>(pads.before[d], 0);
    const std::int64_t after = std::max<std::int64_t>(pads.after[d], 0);
    const std::int64_t size = size_of(view.dimensions[d]);
    axes.push_back(context.axes_for(view, d, "I", used));
    ranks.push_back(axes.back());
    if (before + after == 0) {
      for (const std::size_t axis : axes.back()) einsum.output.indices.push_back(Index::of(axis));
      continue;
    }
    Index index;
    index.constant = before;
    std::int64_t weight = 1;
    for (std::size_t i = axes.back().size(); i-- > 0;) {
      index.terms.insert(index.terms.begin(), Index::Term{axes.back()[i], weight});
      weight *= view.dimensions[d][i].size;
    }
    ranks.back() = {context.cascade().add_axis("H", before + size + after)};
    einsum.output.indices.push_back(index);
  }
  einsum.output.tensor = context.new_tensor(context.output_name(), input.type, ranks);
  context.cascade().tensors[einsum.output.tensor].initial = pads.value;
  einsum.inputs = {context.access(view, axes)};
  einsum.expression = read(0);
  const std::size_t tensor = einsum.output.tensor;
  context.add(std::move(einsum));
  context.set(0, view_of(context.cascade(), tensor, ranks), input.type,
              input.is_nonnegative && pads.value >= 0);
}

void pad(NodeContext& context) {
  const std::string mode = context.text("mode", "constant");
  if (mode != "constant")
    context.approximate(fmt::format("a border by {} is priced as one of zeros", mode));
  put_border(context, read_pads(context, context.in(0).shape.size()));
}

/// The middle of the input, or the input in the middle of zeros.
void center_crop_pad(NodeContext& context) {
  const Shape shape = context.in(0).shape;
  const std::vector<std::int64_t> sizes = context.integers(1);
  std::vector<std::int64_t> axes = context.integers("axes");
  for (std::size_t d = axes.size(); axes.size() < sizes.size() && !context.has_attribute("axes");
       ++d)
    axes.push_back(static_cast<std::int64_t>(d));
  if (axes.size() != sizes.size()) context.fail("its sizes do not fit its input");
  Pads pads;
  pads.before.assign(shape.size(), 0);
  pads.after = pads.before;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t d = context.axis(axes[i], shape.size());
    if (sizes[i] < 1 || sizes[i] >= std::int64_t{1} << 31)
      context.fail("a size of its result is below 1, or too large");
    const std::int64_t more = sizes[i] - shape[d];
    pads.before[d] = more / 2;
    pads.after[d] = more - more / 2;
  }
  put_border(context, pads);
}

}  // namespace

void add_layouts(OperatorTable& table) {
  table["Identity"] = identity;
  table["Cast"] = table["CastLike"] = cast;
  table["Reshape"] = reshape;
  table["Flatten"] = flatten;
  table["Squeeze"] = squeeze;
  table["Unsqueeze"] = unsqueeze;
  table["Transpose"] = transpose;
  table["Expand"] = expand;
  table["Tile"] = tile;
  table["Slice"] = slice;
  table["Split"] = split;
  table["SpaceToDepth"] = space_to_depth;
  table["DepthToSpace"] = depth_to_space;
  table["Dropout"] = dropout;
  table["Pad"] = pad;
  table["CenterCropPad"] = center_crop_pad;
}

}  // namespace sluice::onnx_graph
