#include "directive_text.h"

namespace sluice::kapla {
namespace {

constexpr const char* kKey = "directives";

const Json& part(const SchemeFields& fields, const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name))
    fields.complain(kKey, fmt::format("have no `{}`", name));
  return object[name];
}

/// Only the marks of the search are no extents.
std::map<std::string, std::int64_t> extents(const SchemeFields& fields, const Json& tensor) {
  if (!tensor.is_object()) fields.complain(kKey, "must give a tensor as {dim: extent}");
  std::map<std::string, std::int64_t> extents;
  for (const auto& [dim, extent] : tensor.items())
    if (!extent.is_boolean()) fields.convert(kKey, extent, extents[dim]);
  return extents;
}

/// `[dim, shift, dim, shift, …, count]`
DirectiveStack stack(const SchemeFields& fields, const Json& list) {
  if (!list.is_array() || list.size() < 2)
    fields.complain(
        kKey, fmt::format("have the stack {}; it must be [dim, shift, …, count]", list.dump()));
  DirectiveStack stack;
  for (const Json& item : list)
    if (item.is_string()) stack.dims.push_back(item.get<std::string>());
  fields.convert(kKey, list.back(), stack.count);
  if (stack.count < 1 || stack.dims.empty())
    fields.complain(kKey, fmt::format("have the stack {}; it needs a dim and a count of at least 1",
                                      list.dump()));
  return stack;
}

}  // namespace

Directives read_directives(const SchemeFields& fields) {
  const Json& buffer = part(fields, fields.at(kKey), "GBUF");
  const Json& registers = part(fields, fields.at(kKey), "REGF");
  const Json& input = part(fields, buffer, "tensor_i");
  Directives directives;
  directives.buffered_input = extents(fields, input);
  directives.buffered_output = extents(fields, part(fields, buffer, "tensor_o"));
  directives.is_searched = input.contains("buf_sharing");
  const Json& stacks = part(fields, registers, "stack");
  if (!stacks.is_array()) fields.complain(kKey, "have a `stack` that is no list");
  for (const Json& list : stacks) directives.array_stacks.push_back(stack(fields, list));
  return directives;
}

}  // namespace sluice::kapla
