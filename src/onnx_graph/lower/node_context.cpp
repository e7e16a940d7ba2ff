#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx_graph/lower/lowering.h"
#include "sluice/support/checked.h"

namespace sluice::onnx_graph {

std::int64_t volume(const Shape& shape) {
  std::int64_t values = 1;
  for (const std::int64_t size : shape) values = checked_multiply(values, size);
  return values;
}

std::int64_t NodeContext::opset() const {
  const auto found = lowering_.opsets.find(node_.domain == "ai.onnx" ? "" : node_.domain);
  return found == lowering_.opsets.end() ? 1 : found->second;
}

bool NodeContext::has(std::size_t input) const {
  return input < node_.inputs.size() && !node_.inputs[input].empty();
}

const Value& NodeContext::in(std::size_t input) const {
  if (!has(input)) fail(fmt::format("input {} is missing", input + 1));
  return lowering_.values.at(node_.inputs[input]);
}

View NodeContext::view(std::size_t input) {
  if (!has(input)) fail(fmt::format("input {} is missing", input + 1));
  return view(node_.inputs[input]);
}

View NodeContext::view(const std::string& name) {
  Value& value = lowering_.values.at(name);
  if (value.elements) fail(fmt::format("its input '{}' is a sequence, not a tensor", name));
  for (const std::int64_t size : value.shape)
    if (size < 1) fail(fmt::format("its input '{}' has no values", name));
  if (!value.view && value.make_view) value.view = value.make_view(lowering_);
  if (!value.view) value.view = table(name, *value.constant, value.sources);
  if (value.constant) lowering_.used_constants.insert(value.sources.begin(), value.sources.end());
  return *value.view;
}

std::vector<Index> Placement::moved(const std::vector<Index>& indices) const {
  std::vector<Index> result;
  for (const std::size_t rank : rank_of)
    result.push_back(rank == static_cast<std::size_t>(-1) ? Index{} : indices[rank]);
  result[joined_rank].constant += offset;
  return result;
}

View NodeContext::current(View view) const {
  for (auto part = lowering_.parts.find(view.tensor); part != lowering_.parts.end();
       part = lowering_.parts.find(view.tensor)) {
    view.projection = part->second.moved(view.projection);
    view.tensor = part->second.tensor;
  }
  return view;
}

View NodeContext::uncounted_view(std::size_t input) {
  const std::set<std::string> counted = lowering_.used_constants;
  View result = view(input);
  lowering_.used_constants = counted;
  return result;
}

View NodeContext::table(const std::string& name, Constant constant,
                        const std::set<std::string>& sources) {
  std::vector<std::size_t> ranks;
  std::vector<std::vector<std::size_t>> dimensions;
  for (const std::int64_t size : constant.shape) {
    std::vector<std::size_t>& axes = dimensions.emplace_back();
    if (size == 1) continue;
    axes = {cascade().add_axis("X", size)};
    ranks.push_back(axes[0]);
  }
  const std::size_t tensor =
      cascade().add_tensor(name, TensorKind::kConstant, bits_of(constant.type), ranks);
  lowering_.constants[tensor] = std::make_shared<Constant>(std::move(constant));
  lowering_.constant_names[tensor] = name;
  lowering_.used_constants.insert(sources.begin(), sources.end());
  return view_of(cascade(), tensor, dimensions);
}

std::optional<double> NodeContext::scalar(std::size_t input) const {
  if (!has(input)) return std::nullopt;
  const auto& constant = in(input).constant;
  if (!constant || volume(constant->shape) != 1) return std::nullopt;
  if (constant->has_numbers()) return constant->number(0);
  return constant->uniform;
}

std::optional<std::vector<std::int64_t>> NodeContext::known_integers(std::size_t input) const {
  if (!has(input)) return std::nullopt;
  const auto& constant = in(input).constant;
  if (constant && constant->integers) return constant->integers;
  if (!constant || !constant->reals) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const double number : *constant->reals) {
    if (!(std::abs(number) < 0x1p62)) fail("a number is too large");
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  return numbers;
}

std::vector<std::int64_t> NodeContext::integers(std::size_t input) const {
  const auto known = known_integers(input);
  if (known) return *known;
  throw NodeMistake{
      fmt::format("the numbers of its input {} ('{}') are not known before the run", input + 1,
                  has(input) ? node_.inputs[input] : ""),
      "shapes, axes and sizes must follow from constants and from the shapes of the inputs", true};
}

std::int64_t NodeContext::integer(const std::string& attribute, std::int64_t otherwise) const {
  const Attribute* found = node_.find(attribute);
  return found == nullptr ? otherwise : found->i;
}

double NodeContext::real(const std::string& attribute, double otherwise) const {
  const Attribute* found = node_.find(attribute);
  return found == nullptr ? otherwise : found->f;
}

std::string NodeContext::text(const std::string& attribute, const std::string& otherwise) const {
  const Attribute* found = node_.find(attribute);
  return found == nullptr ? otherwise : found->s;
}

std::vector<std::int64_t> NodeContext::integers(const std::string& attribute) const {
  const Attribute* found = node_.find(attribute);
  return found == nullptr ? std::vector<std::int64_t>() : found->ints;
}

std::optional<std::vector<std::int64_t>> NodeContext::attribute_or_input(const std::string& name,
                                                                         std::size_t input) const {
  if (has_attribute(name)) return integers(name);
  if (has(input)) return integers(input);
  return std::nullopt;
}

std::size_t NodeContext::axis(std::int64_t axis, std::size_t rank) const {
  const std::int64_t n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n)
    fail(fmt::format("axis {} is not one of the {} of its input", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

void NodeContext::fail(const std::string& message, const std::string& hint) const {
  throw NodeMistake{message, hint};
}

void NodeContext::approximate(const std::string& what) {
  std::vector<std::string>& said = lowering_.records[record_].approximations;
  if (std::find(said.begin(), said.end(), what) == said.end()) said.push_back(what);
}

std::string NodeContext::output_name(std::size_t output) const {
  if (output < node_.outputs.size() && !node_.outputs[output].empty()) return node_.outputs[output];
  return node_.name.empty() ? node_.type : node_.name;
}

std::size_t NodeContext::new_tensor(const std::string& name, ElementType type,
                                    const std::vector<std::vector<std::size_t>>& dimensions) {
  std::vector<std::size_t> ranks;
  for (const std::vector<std::size_t>& group : dimensions)
    ranks.insert(ranks.end(), group.begin(), group.end());
  return cascade().add_tensor(name, TensorKind::kMade, bits_of(type), ranks);
}

void NodeContext::add(CascadeEinsum einsum) {
  constexpr std::size_t kMostEinsums = 200'000;
  if (cascade().einsums.size() >= kMostEinsums) fail("there are too many Einsums");
  einsum.nodes = {record_};
  NodeRecord& record = lowering_.records[record_];
  record.operations =
      checked_add(record.operations,
                  checked_multiply(cascade().operations_of(einsum), cascade().points_of(einsum)));
  record.has_einsums = true;
  cascade().add(std::move(einsum));
}

View NodeContext::make(CascadeEinsum einsum,
                       const std::vector<std::vector<std::size_t>>& dimensions,
                       const std::string& name, ElementType type) {
  const std::size_t tensor = new_tensor(name, type, dimensions);
  einsum.output.tensor = tensor;
  for (const std::size_t rank : cascade().tensors[tensor].ranks)
    einsum.output.indices.push_back(Index::of(rank));
  add(std::move(einsum));
  return view_of(cascade(), tensor, dimensions);
}

void NodeContext::set(std::size_t output, View view, ElementType type, bool is_nonnegative) {
  if (output >= node_.outputs.size() || node_.outputs[output].empty()) return;
  Value value;
  value.type = type;
  value.shape = shape_of(view);
  value.view = current(std::move(view));
  value.is_nonnegative = is_nonnegative;
  lowering_.values[node_.outputs[output]] = std::move(value);
}

void NodeContext::set_constant(std::size_t output, Constant constant,
                               std::set<std::string> sources) {
  if (output >= node_.outputs.size() || node_.outputs[output].empty()) return;
  Value value;
  value.type = constant.type;
  value.shape = constant.shape;
  value.constant = std::make_shared<Constant>(std::move(constant));
  value.sources = std::move(sources);
  lowering_.values[node_.outputs[output]] = std::move(value);
}

Shape broadcast(const NodeContext& context, const std::vector<Shape>& shapes) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape result(rank, 1);
  for (const Shape& shape : shapes)
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& size = result[rank - shape.size() + i];
      if (shape[i] == 1 || shape[i] == size) continue;
      if (size != 1)
        context.fail(fmt::format("shapes [{}] do not fit together",
                                 fmt::join(
                                     [&] {
                                       std::vector<std::string> texts;
                                       for (const Shape& s : shapes)
                                         texts.push_back(fmt::format("{}", fmt::join(s, ", ")));
                                       return texts;
                                     }(),
                                     "], [")));
      size = shape[i];
    }
  return result;
}

}  // namespace sluice::onnx_graph
