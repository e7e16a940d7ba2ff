#include "frontend/names/name_resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/names/expression_names.h"
#include "frontend/names/tensor_set_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

template <class Values>
std::unordered_map<std::string, std::size_t> index_by_name(const Values& values) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < values.size(); ++i) index.emplace(values[i].name, i);
  return index;
}

/// Calls `read` for every item of a list, or for a single value.
template <class Read>
void for_each_item(const YamlNode* node, Read read) {
  if (node == nullptr) return;
  if (!node->is_sequence()) return read(node);
  for (const YamlPointer& item : node->items) read(item.get());
}

/// The name that may be meant, or all there are.
std::string nearest_or_all(const std::string& name, const std::vector<std::string>& names) {
  constexpr std::size_t kMostListed = 12;
  const bool is_short = !names.empty() && names.size() <= kMostListed;
  return did_you_mean(name, names,
                      is_short ? fmt::format("there are {}", fmt::join(names, ", ")) : "");
}

}  // namespace

NameResolver::NameResolver(ReadContext& context, const Workload& workload, const Arch& arch)
    : context_(context),
      workload_(workload),
      arch_(arch),
      tensors_(index_by_name(workload.tensors)),
      einsums_(index_by_name(workload.einsums)),
      variables_(index_by_name(workload.rank_variables)),
      components_(index_by_name(arch.components)) {}

std::optional<std::size_t> NameResolver::find(const YamlNode* node, const Index& index,
                                              const char* what) {
  const auto name = read_text(context_, node, what);
  if (!name) return std::nullopt;
  const auto found = index.find(*name);
  if (found != index.end()) return found->second;
  if (!context_.shows_errors()) {
    context_.error_that_follows();
    return std::nullopt;
  }
  std::vector<std::string>& names = sorted_names_[&index];
  if (names.empty()) {
    for (const auto& [known, id] : index) names.push_back(known);
    std::sort(names.begin(), names.end());
  }
  context_.error(*node, fmt::format("unknown {} '{}'", what, *name), nearest_or_all(*name, names));
  return std::nullopt;
}

std::optional<TensorId> NameResolver::tensor(const YamlNode* node) {
  const auto id = find(node, tensors_, "tensor");
  return id ? std::optional(TensorId(*id)) : std::nullopt;
}

std::optional<EinsumId> NameResolver::einsum(const YamlNode* node) {
  const auto id = find(node, einsums_, "Einsum");
  return id ? std::optional(EinsumId(*id)) : std::nullopt;
}

std::optional<RankVariableId> NameResolver::variable(const YamlNode* node) {
  const auto id = find(node, variables_, "rank variable");
  return id ? std::optional(RankVariableId(*id)) : std::nullopt;
}

std::optional<ComponentId> NameResolver::component(const YamlNode* node) {
  const auto id = find(node, components_, "component");
  return id ? std::optional(ComponentId(*id)) : std::nullopt;
}

std::optional<ComponentId> NameResolver::memory(const YamlNode* node) {
  const auto id = component(node);
  if (!id || arch_[*id].holds_tensors()) return id;
  context_.error(*node, fmt::format("{} holds no tensors: it is neither a !Memory nor a !Toll",
                                    arch_[*id].name));
  return std::nullopt;
}

std::optional<std::uint32_t> NameResolver::dimension(ComponentId component, const YamlNode* node) {
  const auto name = read_text(context_, node, "a spatial dimension");
  if (!name) return std::nullopt;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < arch_[component].spatial.size(); ++i) {
    names.push_back(arch_[component].spatial[i].name);
    if (names.back() == *name) return i;
  }
  context_.error(*node,
                 fmt::format("{} has no spatial dimension '{}'", arch_[component].name, *name),
                 nearest_or_all(*name, names));
  return std::nullopt;
}

std::optional<std::string> NameResolver::dimension_name(const YamlNode* node) {
  const auto name = read_text(context_, node, "a spatial dimension");
  if (!name) return std::nullopt;
  std::vector<std::string> names;
  for (const Component& component : arch_.components)
    for (const SpatialDimension& dimension : component.spatial) names.push_back(dimension.name);
  if (std::find(names.begin(), names.end(), *name) != names.end()) return name;
  context_.error(*node, fmt::format("unknown spatial dimension '{}'", *name),
                 nearest_or_all(*name, names));
  return std::nullopt;
}

std::vector<TensorId> NameResolver::tensors(const YamlNode* node) {
  std::vector<TensorId> result;
  for_each_item(node, [&](const YamlNode* item) {
    if (const auto id = tensor(item)) result.push_back(*id);
  });
  return result;
}

std::vector<TensorId> NameResolver::tensor_set(const YamlNode* node,
                                               std::optional<EinsumId> einsum) {
  if (node == nullptr) return {};
  const std::vector<YamlPointer> parts = tensor_set_parts(*node);
  if (parts.empty() && !node->is_sequence())
    context_.error(*node, fmt::format("a set of tensors is needed here, not {}", describe(*node)),
                   "as in '[A, B]', 'All' or '~Intermediates'");
  std::set<TensorId> found;
  for (const YamlPointer& part : parts) {
    const auto named = part->is_scalar() ? tensors_.find(part->text) : tensors_.end();
    if (!node->is_scalar() && named != tensors_.end())  // in a list also one called `Inputs`
      found.insert(TensorId(named->second));
    else
      add_set(*part, einsum, found);
  }
  return {found.begin(), found.end()};
}

/// A name alone is a tensor's or a set's; anything else is an expression over them.
void NameResolver::add_set(const YamlNode& part, std::optional<EinsumId> einsum,
                           std::set<TensorId>& tensors) {
  const bool is_name = part.is_scalar() && name_at(part.text, 0) == part.text;
  const auto& sets = set_names();
  if (is_name && std::find(sets.begin(), sets.end(), part.text) == sets.end()) {
    if (const auto id = tensor(&part)) tensors.insert(*id);
    return;
  }
  const auto expression = read_expression(context_, &part, "a set of tensors");
  if (!expression) return;
  const TensorRoles roles = tensor_roles(workload_);
  for (std::size_t e = 0; e < workload_.einsums.size(); ++e) {
    if (einsum && einsum->index() != e) continue;
    const auto value = expression->evaluate(tensor_set_scope(workload_, roles, EinsumId(e)));
    const NameSet* set = value ? std::get_if<NameSet>(&*value) : nullptr;
    if (!value) return context_.error(part, value.error());
    if (set == nullptr)
      return context_.error(part,
                            fmt::format("a set of tensors is needed here, not {}", describe(part)));
    const std::vector<TensorId> own = tensors_of(workload_.einsums[e]);
    for (std::size_t i = 0; i < own.size(); ++i)
      if ((set->bits >> i & 1U) != 0) tensors.insert(own[i]);
  }
}

std::vector<EinsumId> NameResolver::einsums(const YamlNode* node) {
  std::vector<EinsumId> result;
  for_each_item(node, [&](const YamlNode* item) {
    if (const auto id = einsum(item)) result.push_back(*id);
  });
  return result;
}

std::vector<RankVariableId> NameResolver::variables(const YamlNode* node) {
  std::vector<RankVariableId> result;
  for_each_item(node, [&](const YamlNode* item) {
    if (const auto id = variable(item)) result.push_back(*id);
  });
  return result;
}

std::vector<std::string> NameResolver::dimension_names(const YamlNode* node) {
  std::vector<std::string> result;
  for_each_item(node, [&](const YamlNode* item) {
    if (auto name = dimension_name(item)) result.push_back(std::move(*name));
  });
  return result;
}

}  // namespace sluice
