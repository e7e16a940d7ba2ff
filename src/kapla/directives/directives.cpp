#include "sluice/kapla/directives.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor_marks.h"

namespace sluice::kapla {
namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string numbers_text(const std::vector<DimNumber>& numbers, const char* sign) {
  std::string text;
  for (const DimNumber& number : numbers)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", number.dim, sign, number.number);
  return text;
}

std::string with_last(const std::string& list, std::int64_t last) {
  return fmt::format("{}{}{}", list, list.empty() ? "" : ", ", last);
}

std::string with_marks(std::string list, const TensorDirective& tensor) {
  for (const TensorMark& mark : tensor_marks())
    if (tensor.*mark.flag) list += fmt::format("{}{}", list.empty() ? "" : ", ", mark.name);
  return list;
}

std::string level_text(const LevelDirectives& level) {
  std::string text = fmt::format("  {}\n", level.name);
  for (const TensorDirective& tensor : level.tensors) {
    const std::string extents = numbers_text(tensor.extents, "=");
    const std::string list = tensor.sharers == 1 ? extents : with_last(extents, tensor.sharers);
    text += fmt::format("    tensor{{{}}}({})\n", tensor.name, with_marks(list, tensor));
  }
  for (const StackDirective& stack : level.stacks)
    text += fmt::format("    stack{}({})\n",
                        stack.dimension.empty() ? "" : fmt::format("{{{}}}", stack.dimension),
                        with_last(numbers_text(stack.shifts, "+="), stack.count));
  for (const UpdateDirective& update : level.updates)
    text += fmt::format("    update({})\n", numbers_text(update.steps, "+="));
  return text;
}

}  // namespace

const std::vector<TensorMark>& tensor_marks() {
  static const std::vector<TensorMark> marks = {{"whole", &TensorDirective::whole},
                                                {"sliding", &TensorDirective::sliding},
                                                {"persistent", &TensorDirective::persistent},
                                                {"resident", &TensorDirective::resident}};
  return marks;
}

const LevelDirectives* find_level(const LayerDirectives& layer, const std::string& name) {
  return find_named(layer.levels, name);
}

std::optional<std::int64_t> extent_of(const LevelDirectives& level, const std::string& tensor,
                                      const std::string& dim) {
  const TensorDirective* found = find_named(level.tensors, tensor);
  if (found == nullptr) return std::nullopt;
  for (const DimNumber& extent : found->extents)
    if (extent.dim == dim) return extent.number;
  return std::nullopt;
}

std::string to_text(const std::vector<LayerDirectives>& layers) {
  std::string text;
  for (const LayerDirectives& layer : layers) {
    text += fmt::format("{}\n", layer.name);
    for (const LevelDirectives& level : layer.levels) text += level_text(level);
  }
  return text;
}

}  // namespace sluice::kapla
