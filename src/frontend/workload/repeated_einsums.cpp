#include "frontend/workload/repeated_einsums.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

/// A hint where no name is near.
std::string list_of(const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t kMostListed = 12;
  if (names.empty() || names.size() > kMostListed) return {};
  return fmt::format("{} {}", what, fmt::join(names, ", "));
}

}  // namespace

RepeatedEinsums::RepeatedEinsums(ReadContext& context, const YamlNode& node)
    : context_(context), node_(node) {
  MapReader map(context, node, "a repeat");
  if (!map.is_map()) return;
  times_ = read_integer(context, map.required("times"), "times", 1).value_or(1);
  const YamlNode* carry = map.optional("carry");
  if (carry != nullptr && MapReader(context, *carry, "carry").is_map())
    for (const YamlEntry& entry : carry->entries) {
      const auto read = read_name(context, entry.key.get(), "a tensor");
      const auto made = read_name(context, entry.value.get(), "a tensor");
      if (read && made) carried_[*read] = {*made, entry.value.get(), entry.key.get()};
    }
  const YamlNode* shared = map.optional("shared");
  if (shared != nullptr && !shared->is_sequence())
    context.error(*shared, fmt::format("shared must be a list, not {}", describe(*shared)));
  else if (shared != nullptr)
    for (const YamlPointer& item : shared->items)
      if (const auto name = read_name(context, item.get(), "a tensor")) shared_[*name] = item.get();
  map.finish();
}

void RepeatedEinsums::check(const std::vector<EinsumSource>& layer) {
  is_made_.clear();
  for (const EinsumSource& einsum : layer)
    for (const AccessSource& access : einsum.accesses) is_made_[access.tensor] |= access.is_output;
  std::vector<std::string> made, read;
  for (const auto& [tensor, is_made] : is_made_) (is_made ? made : read).push_back(tensor);
  const auto must_read = [&](const std::string& tensor, const YamlNode& place) {
    const auto found = is_made_.find(tensor);
    if (found == is_made_.end())
      context_.error(place, fmt::format("no Einsum of the layer reads '{}'", tensor),
                     did_you_mean(tensor, read, list_of("it reads", read)));
    else if (found->second)
      context_.error(place, fmt::format("the layer makes {} itself", tensor));
  };
  for (const auto& [tensor, carried] : carried_) {
    must_read(tensor, *carried.read_place);
    const auto found = is_made_.find(carried.made);
    if (found == is_made_.end() || !found->second)
      context_.error(*carried.made_place,
                     fmt::format("no Einsum of the layer makes '{}'", carried.made),
                     did_you_mean(carried.made, made, list_of("it makes", made)));
  }
  for (const auto& [tensor, place] : shared_) {
    must_read(tensor, *place);
    if (carried_.count(tensor) > 0)
      context_.error(*place, fmt::format("{} is carried from layer to layer", tensor));
  }
}

bool RepeatedEinsums::is_too_long(std::size_t n_einsums) {
  const std::size_t most = context_.options().limits.max_nodes;
  if (static_cast<std::size_t>(times_) <= most / std::max<std::size_t>(n_einsums, 1)) return false;
  context_.error(node_, fmt::format("{} times {} Einsums are more than the limit of {}", times_,
                                    n_einsums, most));
  return true;
}

/// `number` counts from 1.
std::string RepeatedEinsums::name_in(std::size_t number, const std::string& tensor) const {
  if (const auto carried = carried_.find(tensor); carried != carried_.end())
    return number == 1 ? tensor : fmt::format("{}_{}", carried->second.made, number - 1);
  return shared_.count(tensor) > 0 ? tensor : fmt::format("{}_{}", tensor, number);
}

std::vector<EinsumSource> RepeatedEinsums::unfold(const std::vector<EinsumSource>& layer,
                                                  const std::vector<EinsumSource>& before) {
  const std::size_t n_errors = context_.n_errors();
  check(layer);
  if (is_too_long(layer.size()) || context_.n_errors() != n_errors) return layer;
  if (times_ == 1) return layer;
  for (const EinsumSource& einsum : before) {
    const std::string& made = einsum.accesses.back().tensor;
    if (is_made_.count(made) > 0 && carried_.count(made) == 0) shared_.emplace(made, nullptr);
  }
  std::vector<EinsumSource> result;
  for (std::size_t number = 1; number <= static_cast<std::size_t>(times_); ++number) {
    std::map<std::string, std::string> renamed;
    for (const auto& [tensor, is_made] : is_made_) {
      renamed[tensor] = name_in(number, tensor);
      if (is_made) copies_[tensor].push_back(renamed[tensor]);
    }
    for (const EinsumSource& einsum : layer) {
      result.push_back(with_tensors_renamed(einsum, renamed));
      result.back().name = fmt::format("{}_{}", einsum.name, number);
      result.back().name_in_layer = einsum.name;
    }
  }
  return result;
}

EinsumSource with_tensors_renamed(EinsumSource einsum,
                                  const std::map<std::string, std::string>& renamed) {
  for (AccessSource& access : einsum.accesses)
    if (const auto found = renamed.find(access.tensor); found != renamed.end())
      access.tensor = found->second;
  const auto as_name = [&](const std::string& name) -> std::optional<Expression> {
    const auto found = renamed.find(name);
    if (found == renamed.end() || found->second == name) return std::nullopt;
    const auto parsed = Expression::parse(found->second);
    return parsed ? std::optional(*parsed) : std::nullopt;
  };
  for (RenameSource& rename : einsum.renames) rename.source = rename.source.substitute(as_name);
  for (BitsSource& bits : einsum.bits) bits.tensors = bits.tensors.substitute(as_name);
  return einsum;
}

}  // namespace sluice
