#include "directive_text.h"

#include <utility>

namespace sluice::kapla {
namespace {

constexpr const char* kKey = "directives";
constexpr const char* kMarkOfSearch = "buf_sharing";  // in the tensors of searched mappings

const Json& part(const SchemeFields& fields, const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name))
    fields.complain(kKey, fmt::format("have no `{}`", name));
  return object[name];
}

const Json& list_in(const SchemeFields& fields, const Json& level, const char* name) {
  const Json& list = part(fields, level, name);
  if (!list.is_array()) fields.complain(kKey, fmt::format("have a `{}` that is no list", name));
  return list;
}

TensorDirective tensor(const SchemeFields& fields, const Json& level, const char* key,
                       const char* name) {
  const Json& extents = part(fields, level, key);
  if (!extents.is_object()) fields.complain(kKey, "must give a tensor as {dim: extent}");
  TensorDirective tensor;
  tensor.name = name;
  for (const auto& [dim, extent] : extents.items()) {
    if (dim == kMarkOfSearch) continue;
    tensor.extents.push_back({dim, 1});
    fields.convert(kKey, extent, tensor.extents.back().number);
  }
  return tensor;
}

/// `[dim, number, dim, number, …]` and what stands behind the last pair; a dim without a number
/// has 1.
std::vector<DimNumber> pairs(const SchemeFields& fields, const Json& list, std::size_t end) {
  std::vector<DimNumber> numbers;
  for (std::size_t i = 0; i < end; ++i) {
    if (list[i].is_string())
      numbers.push_back({list[i].get<std::string>(), 1});
    else if (!numbers.empty())
      fields.convert(kKey, list[i], numbers.back().number);
  }
  return numbers;
}

StackDirective stack(const SchemeFields& fields, const Json& list) {
  if (!list.is_array() || list.size() < 2)
    fields.complain(
        kKey, fmt::format("have the stack {}; it must be [dim, shift, …, count]", list.dump()));
  StackDirective stack{pairs(fields, list, list.size() - 1), 1};
  fields.convert(kKey, list.back(), stack.count);
  if (stack.count < 1 || stack.shifts.empty())
    fields.complain(kKey, fmt::format("have the stack {}; it needs a dim and a count of at least 1",
                                      list.dump()));
  return stack;
}

UpdateDirective update(const SchemeFields& fields, const Json& list) {
  if (!list.is_array() || list.empty())
    fields.complain(kKey,
                    fmt::format("have the update {}; it must be [dim, step, …]", list.dump()));
  return {pairs(fields, list, list.size())};
}

LevelDirectives level(const SchemeFields& fields, const char* name) {
  const Json& object = part(fields, fields.at(kKey), name);
  LevelDirectives level{name, {}, {}, {}};
  for (const auto& [key, tensor_name] :
       {std::pair{"tensor_w", "W"}, std::pair{"tensor_i", "I"}, std::pair{"tensor_o", "O"}})
    level.tensors.push_back(tensor(fields, object, key, tensor_name));
  for (const Json& list : list_in(fields, object, "stack"))
    level.stacks.push_back(stack(fields, list));
  for (const Json& list : list_in(fields, object, "update"))
    level.updates.push_back(update(fields, list));
  return level;
}

}  // namespace

SchemeDirectives read_directives(const SchemeFields& fields) {
  SchemeDirectives directives;
  directives.layer = {fields.text("layer"), {level(fields, "REGF"), level(fields, "GBUF")}};
  directives.is_searched = fields.at(kKey)["GBUF"]["tensor_i"].contains(kMarkOfSearch);
  return directives;
}

}  // namespace sluice::kapla
