#include "result_document.h"

#include <nlohmann/json.hpp>

namespace sluice::cli {
namespace {

/// The kind of a split as a node's name: `Sequential`, as the YAML form's tag.
std::string split_node(SplitKind kind) {
  std::string name = split_name(kind);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

class MappingWriter {
 public:
  MappingWriter(const Workload& workload, const Arch& arch) : workload_(workload), arch_(arch) {}

  Json list(const NodeList& nodes) const {
    Json result = Json::array();
    for (const Node& node : nodes)
      result.push_back(std::visit([this](const auto& kind) { return write(kind); }, node.kind));
    return result;
  }

 private:
  Json write(const StorageNode& node) const {
    Json tensors = Json::array();
    for (const TensorId tensor : node.tensors) tensors.push_back(workload_[tensor].name);
    Json result = {
        {"node", "Storage"}, {"tensors", tensors}, {"component", arch_[node.component].name}};
    for (const auto& [key, value] : {std::pair{"persistent", node.persistent},
                                     {"resident", node.resident},
                                     {"sliding", node.sliding},
                                     {"incremental", node.incremental}})
      if (value) result[key] = true;
    if (node.shared_by) result["shared_by"] = *node.shared_by;
    if (node.over) result["over"] = *node.over;
    if (node.along) result["along"] = workload_[*node.along].name;
    for (const EinsumId einsum : node.einsums) result["einsums"].push_back(workload_[einsum].name);
    return result;
  }

  /// One name as in most loops; a list where branches know the loop by different variables.
  Json variables(const std::vector<RankVariableId>& ids) const {
    if (ids.size() == 1) return workload_[ids.front()].name;
    Json names = Json::array();
    for (const RankVariableId id : ids) names.push_back(workload_[id].name);
    return names;
  }

  Json write(const TemporalNode& node) const {
    Json result = {{"node", "Temporal"},
                   {"rank_variable", variables(node.variables)},
                   {"tile_shape", node.tile_shape}};
    if (node.initial_tile_shape) result["initial_tile_shape"] = *node.initial_tile_shape;
    return result;
  }

  Json write(const SpatialNode& node) const {
    const Component& component = arch_[node.component];
    Json result = {{"node", "Spatial"},
                   {"rank_variable", variables(node.variables)},
                   {"tile_shape", node.tile_shape},
                   {"name", component.spatial.at(node.dimension).name},
                   {"component", component.name}};
    if (node.initial_tile_shape) result["initial_tile_shape"] = *node.initial_tile_shape;
    return result;
  }

  Json write(const CollectiveNode& node) const {
    Json result = {{"node", "Collective"},
                   {"type", collective_name(node.type)},
                   {"tensor", workload_[node.tensor].name}};
    if (node.op) result["op"] = reduction_name(*node.op);
    result["src"] = arch_[node.src].name;
    result["dst"] = arch_[node.dst].name;
    result["over"] = node.over;
    for (const auto& [dimension, coordinate] : node.root) result["root"][dimension] = coordinate;
    result["algorithm"] = node.algorithm;
    return result;
  }

  Json write(const ComputeNode& node) const {
    return {{"node", "Compute"},
            {"einsum", workload_[node.einsum].name},
            {"component", arch_[node.component].name}};
  }

  Json write(const SplitNode& node) const {
    Json result = {{"node", split_node(node.kind)}};
    if (node.over) result["over"] = *node.over;
    if (!node.shares.empty()) result["shares"] = node.shares;
    for (const auto& [tensor, memory] : node.forward)
      result["forward"][workload_[tensor].name] = arch_[memory].name;
    result["nodes"] = Json::array();
    for (const NodeList& child : node.children)
      result["nodes"].push_back({{"node", "Nested"}, {"nodes", list(child)}});
    return result;
  }

  const Workload& workload_;
  const Arch& arch_;
};

}  // namespace

Json mapping_to_json(const Mapping& mapping, const Workload& workload, const Arch& arch) {
  return {{"nodes", MappingWriter(workload, arch).list(mapping.nodes)}};
}

}  // namespace sluice::cli
