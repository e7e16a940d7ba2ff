// ONNX's sequences: lists of tensors that are known before the run. They move nothing.
#include <fmt/format.h>

#include <algorithm>

#include "onnx_graph/operators/joins.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

using Elements = std::vector<Value>;

constexpr std::int64_t kMostElements = 4096;

const Elements& elements_of(const NodeContext& context, std::size_t input) {
  const Value& value = context.in(input);
  if (!value.elements) context.fail(fmt::format("its input {} is no sequence", input + 1));
  return *value.elements;
}

void set_elements(NodeContext& context, Elements elements) {
  if (static_cast<std::int64_t>(elements.size()) > kMostElements)
    context.fail(fmt::format("its sequence has more than {} tensors", kMostElements));
  Value value;
  value.elements = std::make_shared<const Elements>(std::move(elements));
  context.lowering().values[context.node().outputs.at(0)] = std::move(value);
}

/// A place in a sequence of `n`; nothing where it is not known before the run.
std::optional<std::size_t> place_of(const NodeContext& context, std::size_t input, std::size_t n) {
  const auto known = context.known_integers(input);
  if (!known) return std::nullopt;
  const std::int64_t place = known->at(0), size = static_cast<std::int64_t>(n);
  if (place < -size || place >= size)
    context.fail(fmt::format("its position {} is none of the {} of its sequence", place, n));
  return static_cast<std::size_t>(place < 0 ? place + size : place);
}

[[noreturn]] void refuse_unknown_place(const NodeContext& context) {
  context.fail("its position in the sequence is not known before the run",
               "docs/refusals.md lists what is refused");
}

void sequence_construct(NodeContext& context) {
  Elements elements;
  for (std::size_t i = 0; i < context.n_inputs(); ++i) elements.push_back(context.in(i));
  set_elements(context, std::move(elements));
}

void sequence_empty(NodeContext& context) { set_elements(context, {}); }

void sequence_insert(NodeContext& context) {
  Elements elements = elements_of(context, 0);
  std::size_t place = elements.size();
  if (context.has(2)) {
    const auto known = place_of(context, 2, elements.size() + 1);
    if (!known) refuse_unknown_place(context);
    place = *known;
  }
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place), context.in(1));
  set_elements(context, std::move(elements));
}

void sequence_erase(NodeContext& context) {
  Elements elements = elements_of(context, 0);
  if (elements.empty()) context.fail("its sequence is empty");
  std::size_t place = elements.size() - 1;
  if (context.has(1)) {
    const auto known = place_of(context, 1, elements.size());
    if (!known) refuse_unknown_place(context);
    place = *known;
  }
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(place));
  set_elements(context, std::move(elements));
}

void sequence_at(NodeContext& context) {
  const Elements& elements = elements_of(context, 0);
  if (elements.empty()) context.fail("its sequence is empty");
  auto place = place_of(context, 1, elements.size());
  if (!place) {
    for (const Value& element : elements)
      if (element.shape != elements[0].shape) refuse_unknown_place(context);
    context.approximate("its position is not known before the run: the first tensor stands for it");
    place = 0;
  }
  Value value = elements[*place];
  if (value.view) value.view = context.current(*value.view);
  context.lowering().values[context.node().outputs.at(0)] = std::move(value);
}

void sequence_length(NodeContext& context) {
  Constant length;
  length.type = ElementType::kInt64;
  length.integers = {static_cast<std::int64_t>(elements_of(context, 0).size())};
  context.set_constant(0, std::move(length), {});
}

/// Sizes of the parts: one number for all of them, or one each; 1 where nothing is said.
std::vector<std::int64_t> part_sizes(NodeContext& context, std::int64_t size) {
  const auto given = context.has(1) ? context.integers(1) : std::vector<std::int64_t>{1};
  if (context.has(1) && !context.in(1).shape.empty()) return given;
  const std::int64_t each = given.at(0);
  if (each < 1 || size / each >= kMostElements) context.fail("its parts do not fit its input");
  std::vector<std::int64_t> sizes;
  for (std::int64_t at = 0; at < size; at += each) sizes.push_back(std::min(each, size - at));
  return sizes;
}

void split_to_sequence(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", 0), input.shape.size());
  const bool keeps = context.has(1) || context.integer("keepdims", 1) != 0;
  Elements elements;
  std::int64_t at = 0;
  for (const std::int64_t size : part_sizes(context, input.shape[axis])) {
    if (size < 0 || size > input.shape[axis] - at) context.fail("its parts do not fit its input");
    Value part;
    part.type = input.type;
    part.shape = input.shape;
    part.shape[axis] = size;
    part.is_nonnegative = input.is_nonnegative;
    if (size == 0) {
      part.constant = std::make_shared<Constant>(empty_constant(input.type, part.shape));
    } else {
      part.view = context.slice(context.view(0), axis, at, 1, size, input.type);
      if (!keeps) {
        part.shape.erase(part.shape.begin() + static_cast<std::ptrdiff_t>(axis));
        part.view = context.reshape(*part.view, part.shape, input.type);
      }
    }
    at += size;
    elements.push_back(std::move(part));
  }
  if (at != input.shape[axis]) context.fail("its parts do not fit its input");
  set_elements(context, std::move(elements));
}

/// The tensors of a sequence side by side, or along an axis of their own (`new_axis`).
void concat_from_sequence(NodeContext& context) {
  const Elements elements = elements_of(context, 0);
  if (elements.empty()) context.fail("its sequence is empty");
  const bool is_new = context.integer("new_axis", 0) != 0;
  const Value& first = elements[0];
  const std::size_t axis =
      context.axis(context.integer("axis", 0), first.shape.size() + (is_new ? 1 : 0));
  std::vector<View> views;
  bool is_nonnegative = true;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Shape shape = elements[i].shape;
    if (!is_new && shape.size() == first.shape.size()) shape[axis] = first.shape[axis];
    if (shape != first.shape) context.fail("shapes of the tensors of its sequence do not fit");
    if (!is_new && elements[i].shape[axis] == 0) continue;
    const std::string name = fmt::format("{}_part{}", context.output_name(), i + 1);
    context.lowering().values[name] = elements[i];
    views.push_back(context.view(name));
    if (is_new)
      views.back().dimensions.insert(
          views.back().dimensions.begin() + static_cast<std::ptrdiff_t>(axis), Digits{});
    is_nonnegative &= elements[i].is_nonnegative;
  }
  if (views.empty()) return context.set_constant(0, empty_constant(first.type, first.shape), {});
  const View result =
      views.size() == 1 ? views[0] : join(context, std::move(views), axis, first.type);
  context.set(0, result, first.type, is_nonnegative);
}

}  // namespace

void add_tensor_lists(OperatorTable& table) {
  table["SequenceConstruct"] = sequence_construct;
  table["SequenceEmpty"] = sequence_empty;
  table["SequenceInsert"] = sequence_insert;
  table["SequenceErase"] = sequence_erase;
  table["SequenceAt"] = sequence_at;
  table["SequenceLength"] = sequence_length;
  table["SplitToSequence"] = split_to_sequence;
  table["ConcatFromSequence"] = concat_from_sequence;
}

}  // namespace sluice::onnx_graph
