#include "mapping_from_json.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sluice::cli {
namespace {

using Value = nlohmann::json;

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

template <class Id, class Items>
std::unordered_map<std::string, Id> names_of(const Items& items) {
  std::unordered_map<std::string, Id> names;
  for (std::size_t i = 0; i < items.size(); ++i) names.emplace(items[i].name, Id(i));
  return names;
}

const Value& member(const Value& value, const char* key) {
  const auto found = value.find(key);
  if (found == value.end()) fail(fmt::format("a node lacks the key `{}`", key));
  return *found;
}

const std::string& text(const Value& value, const char* key) {
  const Value& found = member(value, key);
  if (!found.is_string()) fail(fmt::format("`{}` must be a name", key));
  return found.get_ref<const std::string&>();
}

template <class Id>
Id look_up(const std::unordered_map<std::string, Id>& names, const Value& value, const char* kind) {
  if (!value.is_string()) fail(fmt::format("the name of a {} must be text", kind));
  const auto found = names.find(value.get_ref<const std::string&>());
  if (found == names.end())
    fail(fmt::format("there is no {} `{}`", kind, value.get_ref<const std::string&>()));
  return found->second;
}

std::int64_t tile(const Value& value, const char* key) {
  const Value& found = member(value, key);
  if (!found.is_number_integer() || found.get<std::int64_t>() < 1)
    fail(fmt::format("`{}` must be a whole number from 1", key));
  return found.get<std::int64_t>();
}

std::optional<std::int64_t> first_tile(const Value& value) {
  if (!value.contains("initial_tile_shape")) return std::nullopt;
  return tile(value, "initial_tile_shape");
}

/// The choice of this name.
template <class Choice, std::size_t N>
Choice one_of(const Choice (&choices)[N], const Value& value, const char* key,
              std::string (*name_of)(Choice)) {
  const std::string& name = text(value, key);
  for (Choice choice : choices)
    if (name_of(choice) == name) return choice;
  fail(fmt::format("there is no {} `{}`", key, name));
}

/// A misspelt key must not be lost.
void check_keys(const Value& value, std::initializer_list<std::string_view> known) {
  for (const auto& item : value.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      fail(fmt::format("a {} has no key `{}`", text(value, "node"), item.key()));
}

bool flag(const Value& value, const char* key) {
  const auto found = value.find(key);
  if (found == value.end()) return false;
  if (!found->is_boolean()) fail(fmt::format("`{}` must be true or false", key));
  return found->get<bool>();
}

}  // namespace

MappingFromJson::MappingFromJson(const Workload& workload, const Arch& arch)
    : arch_(arch),
      tensors_(names_of<TensorId>(workload.tensors)),
      variables_(names_of<RankVariableId>(workload.rank_variables)),
      einsums_(names_of<EinsumId>(workload.einsums)),
      components_(names_of<ComponentId>(arch.components)) {}

Mapping MappingFromJson::read(const Value& value, const Leaves& leaves) const {
  if (!value.is_object()) fail("a mapping is an object with the key `nodes`");
  const auto inner = value.find("mapping");
  if (inner != value.end()) return read(*inner, leaves);
  if (!value.contains("nodes")) fail("a mapping is an object with the key `nodes`");
  return {list(value["nodes"], leaves), {}};
}

NodeList MappingFromJson::list(const Value& nodes, const Leaves& leaves) const {
  if (!nodes.is_array()) fail("`nodes` must be a list");
  NodeList result;
  result.reserve(nodes.size());
  for (const Value& value : nodes) result.push_back(node(value, leaves));
  return result;
}

Node MappingFromJson::node(const Value& value, const Leaves& leaves) const {
  if (leaves && value.is_number_unsigned()) return leaves(value.get<std::size_t>());
  if (!value.is_object()) fail("a node is an object");
  const std::string& kind = text(value, "node");
  if (kind == "Storage") return {storage(value)};
  if (kind == "Temporal") return {temporal(value)};
  if (kind == "Spatial") return {spatial(value)};
  if (kind == "Sequential") return {split(value, SplitKind::kSequential, leaves)};
  if (kind == "Pipeline") return {split(value, SplitKind::kPipeline, leaves)};
  if (kind == "Parallel") return {split(value, SplitKind::kParallel, leaves)};
  if (kind == "Collective") return {collective(value)};
  if (kind == "Compute") {
    check_keys(value, {"node", "einsum", "component"});
    return {ComputeNode{look_up(einsums_, member(value, "einsum"), "Einsum"),
                        look_up(components_, member(value, "component"), "component")}};
  }
  fail(
      fmt::format("a batch has nodes Storage, Temporal, Spatial, Sequential, Pipeline, Parallel, "
                  "Collective and "
                  "Compute, not `{}`",
                  kind));
}

StorageNode MappingFromJson::storage(const Value& value) const {
  check_keys(value, {"node", "tensors", "component", "persistent", "resident", "sliding",
                     "incremental", "shared_by", "over", "along", "einsums"});
  StorageNode node;
  const Value& tensors = member(value, "tensors");
  if (!tensors.is_array() || tensors.empty()) fail("`tensors` must be a list of names");
  for (const Value& tensor : tensors) node.tensors.push_back(look_up(tensors_, tensor, "tensor"));
  node.component = look_up(components_, member(value, "component"), "component");
  node.persistent = flag(value, "persistent");
  node.resident = flag(value, "resident");
  node.sliding = flag(value, "sliding");
  node.incremental = flag(value, "incremental");
  if (node.sliding && node.incremental)
    fail("`incremental` fetches only new rows anyway: leave out `sliding`");
  if (value.contains("shared_by")) node.shared_by = tile(value, "shared_by");
  if (value.contains("over")) node.over = text(value, "over");
  if (value.contains("along")) node.along = look_up(variables_, value["along"], "rank variable");
  if (!node.shared_by && (node.over || node.along))
    fail("`over` and `along` belong to `shared_by`");
  if (value.contains("einsums"))
    for (const Value& einsum : value["einsums"])
      node.einsums.push_back(look_up(einsums_, einsum, "Einsum"));
  return node;
}

std::vector<RankVariableId> MappingFromJson::variables(const Value& value) const {
  const Value& names = member(value, "rank_variable");
  if (!names.is_array()) return {look_up(variables_, names, "rank variable")};
  std::vector<RankVariableId> result;
  for (const Value& name : names) result.push_back(look_up(variables_, name, "rank variable"));
  if (result.empty()) fail("a loop needs a rank variable");
  return result;
}

TemporalNode MappingFromJson::temporal(const Value& value) const {
  check_keys(value, {"node", "rank_variable", "tile_shape", "initial_tile_shape"});
  return {variables(value), tile(value, "tile_shape"), first_tile(value)};
}

SpatialNode MappingFromJson::spatial(const Value& value) const {
  check_keys(value,
             {"node", "rank_variable", "tile_shape", "initial_tile_shape", "name", "component"});
  SpatialNode node;
  node.variables = variables(value);
  node.tile_shape = tile(value, "tile_shape");
  node.initial_tile_shape = first_tile(value);
  node.component = look_up(components_, member(value, "component"), "component");
  const std::string& name = text(value, "name");
  const auto& spatial = arch_[node.component].spatial;
  while (node.dimension < spatial.size() && spatial[node.dimension].name != name) ++node.dimension;
  if (node.dimension == spatial.size())
    fail(fmt::format("{} has no spatial dimension `{}`", arch_[node.component].name, name));
  return node;
}

SplitNode MappingFromJson::split(const Value& value, SplitKind kind, const Leaves& leaves) const {
  if (kind == SplitKind::kSequential) check_keys(value, {"node", "nodes"});
  if (kind == SplitKind::kParallel) check_keys(value, {"node", "nodes", "over", "shares"});
  if (kind == SplitKind::kPipeline)
    check_keys(value, {"node", "nodes", "over", "shares", "forward"});
  SplitNode split;
  split.kind = kind;
  if (value.contains("over") != value.contains("shares"))
    fail("`over` and `shares` need each other");
  if (value.contains("over")) {
    split.over = text(value, "over");
    if (!value["shares"].is_array()) fail("`shares` must be a list of whole numbers");
    for (const Value& share : value["shares"]) {
      if (!share.is_number_unsigned() || share.get<std::uint64_t>() > INT32_MAX || share == 0)
        fail("`shares` must be a list of whole numbers from 1 on");
      split.shares.push_back(share.get<std::int64_t>());
    }
  }
  if (value.contains("forward")) {
    if (!value["forward"].is_object()) fail("`forward` names a memory for each tensor");
    for (const auto& item : value["forward"].items())
      split.forward.emplace_back(look_up(tensors_, Value(item.key()), "tensor"),
                                 look_up(components_, item.value(), "component"));
  }
  for (const Value& child : member(value, "nodes")) {
    if (!child.is_object() || text(child, "node") != "Nested")
      fail("below a split stand nodes Nested");
    split.children.push_back(list(member(child, "nodes"), leaves));
  }
  return split;
}

CollectiveNode MappingFromJson::collective(const Value& value) const {
  check_keys(value, {"node", "type", "tensor", "op", "src", "dst", "over", "root", "algorithm"});
  CollectiveNode node;
  constexpr CollectiveType kTypes[] = {CollectiveType::kAllReduce, CollectiveType::kReduceScatter,
                                       CollectiveType::kAllGather, CollectiveType::kBroadcast,
                                       CollectiveType::kGather,    CollectiveType::kScatter,
                                       CollectiveType::kAllToAll};
  node.type = one_of(kTypes, value, "type", collective_name);
  node.tensor = look_up(tensors_, member(value, "tensor"), "tensor");
  constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMin,
                                       Reduction::kMax};
  if (value.contains("op")) node.op = one_of(kReductions, value, "op", reduction_name);
  const bool reduces =
      node.type == CollectiveType::kAllReduce || node.type == CollectiveType::kReduceScatter;
  if (reduces != node.op.has_value())
    fail(reduces ? "a reducing Collective lacks the key `op`"
                 : "this type of Collective reduces nothing: `op`");
  node.src = look_up(components_, member(value, "src"), "component");
  node.dst = value.contains("dst") ? look_up(components_, value["dst"], "component") : node.src;
  const Value& over = member(value, "over");
  if (!over.is_array() || over.empty()) fail("`over` must be a list of names");
  for (const Value& name : over) {
    if (!name.is_string()) fail("`over` must be a list of names");
    node.over.push_back(name.get<std::string>());
  }
  if (value.contains("root")) {
    if (!value["root"].is_object()) fail("`root` gives a whole number for each dimension");
    for (const auto& item : value["root"].items()) {
      if (!item.value().is_number_unsigned())
        fail("`root` gives a whole number for each dimension");
      node.root.emplace_back(item.key(), item.value().get<std::int64_t>());
    }
  }
  if (value.contains("algorithm")) node.algorithm = text(value, "algorithm");
  return node;
}

}  // namespace sluice::cli
