#include <fmt/format.h>

#include "sluice/mapping/mapping.h"
#include "support/yaml_text.h"

namespace sluice {
namespace {

/// `!Pipeline`
std::string split_tag(SplitKind kind) {
  std::string tag = split_name(kind);
  tag[0] = static_cast<char>(tag[0] - 'a' + 'A');
  return "!" + tag;
}

/// One node a line in flow style; a split is a block.
class MappingPrinter {
 public:
  MappingPrinter(const Workload& workload, const Arch& arch) : workload_(workload), arch_(arch) {}

  std::string print(const Mapping& mapping) {
    text_ = "mapping:\n  nodes:\n";
    if (mapping.nodes.empty()) text_ = "mapping:\n  nodes: []\n";
    nodes(mapping.nodes, "  ");
    if (!mapping.preload.empty()) preload(mapping.preload);
    return std::move(text_);
  }

 private:
  const std::string& name(TensorId id) const { return workload_[id].name; }
  const std::string& name(ComponentId id) const { return arch_[id].name; }

  void nodes(const NodeList& list, const std::string& indent) {
    for (const Node& node : list)
      std::visit([&](const auto& kind) { print(kind, indent); }, node.kind);
  }

  void line(const std::string& indent, const char* tag, const YamlFlowMap& map) {
    text_ += fmt::format("{}- !{} {}\n", indent, tag, map.text());
  }

  template <class Id>
  std::string names(const std::vector<Id>& ids) const {
    std::vector<std::string> result;
    for (const Id id : ids) result.push_back(workload_[id].name);
    return yaml_list(result);
  }

  std::string loop_variables(const std::vector<RankVariableId>& variables) const {
    return variables.size() == 1 ? workload_[variables[0]].name : names(variables);
  }

  void print(const StorageNode& node, const std::string& indent) {
    YamlFlowMap map;
    map.add("tensors", names(node.tensors)).add("component", name(node.component));
    if (!node.einsums.empty()) map.add("einsums", names(node.einsums));
    if (node.persistent) map.add("persistent", "true");
    if (node.resident) map.add("resident", "true");
    if (node.sliding) map.add("sliding", "true");
    if (node.incremental) map.add("incremental", "true");
    if (node.shared_by) map.add("shared_by", std::to_string(*node.shared_by));
    if (node.over) map.add("over", *node.over);
    if (node.along) map.add("along", workload_[*node.along].name);
    line(indent, "Storage", map);
  }

  void print(const TemporalNode& node, const std::string& indent) {
    YamlFlowMap map;
    map.add("rank_variable", loop_variables(node.variables));
    map.add("tile_shape", std::to_string(node.tile_shape));
    if (node.initial_tile_shape)
      map.add("initial_tile_shape", std::to_string(*node.initial_tile_shape));
    line(indent, "Temporal", map);
  }

  void print(const SpatialNode& node, const std::string& indent) {
    YamlFlowMap map;
    map.add("rank_variable", loop_variables(node.variables));
    map.add("tile_shape", std::to_string(node.tile_shape));
    if (node.initial_tile_shape)
      map.add("initial_tile_shape", std::to_string(*node.initial_tile_shape));
    map.add("name", arch_[node.component].spatial.at(node.dimension).name);
    map.add("component", name(node.component));
    line(indent, "Spatial", map);
  }

  void print(const ComputeNode& node, const std::string& indent) {
    YamlFlowMap map;
    map.add("einsum", workload_[node.einsum].name).add("component", name(node.component));
    line(indent, "Compute", map);
  }

  void print(const CollectiveNode& node, const std::string& indent) {
    YamlFlowMap map;
    map.add("type", collective_name(node.type)).add("tensor", name(node.tensor));
    if (node.op) map.add("op", reduction_name(*node.op));
    map.add("src", name(node.src));
    if (node.dst != node.src) map.add("dst", name(node.dst));
    map.add("over", yaml_list(node.over));
    if (!node.root.empty()) {
      YamlFlowMap root;
      for (const auto& [dimension, coordinate] : node.root)
        root.add(dimension, std::to_string(coordinate));
      map.add("root", root.text());
    }
    map.add("algorithm", node.algorithm);
    line(indent, "Collective", map);
  }

  void print(const SplitNode& node, const std::string& indent) {
    text_ += fmt::format("{}- {}\n", indent, split_tag(node.kind));
    if (node.over) text_ += fmt::format("{}  over: {}\n", indent, *node.over);
    if (!node.shares.empty())
      text_ += fmt::format("{}  shares: [{}]\n", indent, fmt::join(node.shares, ", "));
    if (!node.forward.empty()) {
      YamlFlowMap forward;
      for (const auto& [tensor, memory] : node.forward) forward.add(name(tensor), name(memory));
      text_ += fmt::format("{}  forward: {}\n", indent, forward.text());
    }
    text_ += indent + "  nodes:\n";
    for (const NodeList& child : node.children) print_child(child, indent + "  ");
  }

  /// A single collective stands by itself, anything else in a !Nested.
  void print_child(const NodeList& child, const std::string& indent) {
    if (child.size() == 1 && std::holds_alternative<CollectiveNode>(child[0].kind)) {
      nodes(child, indent);
    } else if (child.empty()) {
      text_ += indent + "- !Nested {nodes: []}\n";
    } else {
      text_ += fmt::format("{}- !Nested\n{}  nodes:\n", indent, indent);
      nodes(child, indent + "  ");
    }
  }

  void preload(const std::vector<PreloadState>& states) {
    YamlFlowMap map;
    for (const PreloadState& state : states) {
      YamlFlowMap entry;
      entry.add("shares", std::to_string(state.shares)).add("over", state.over);
      map.add(name(state.tensor), entry.text());
    }
    text_ += fmt::format("plan:\n  preload: {}\n", map.text());
  }

  const Workload& workload_;
  const Arch& arch_;
  std::string text_;
};

}  // namespace

std::string to_yaml(const Mapping& mapping, const Workload& workload, const Arch& arch) {
  return MappingPrinter(workload, arch).print(mapping);
}

}  // namespace sluice
