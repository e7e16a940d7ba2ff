#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>

#include "sluice/mapping/mapping.h"

namespace sluice::cli {

/// Reads mappings in the form of the result document (`mapping_to_json`): names are looked up in
/// tables that are made once. Throws std::runtime_error with what is wrong and where.
class MappingFromJson {
 public:
  MappingFromJson(const Workload& workload, const Arch& arch);

  /// The nodes for which numbers stand in lists of nodes.
  using Leaves = std::function<const Node&(std::size_t)>;

  /// `value`: `{"nodes": […]}`, or an object that has such a one as `mapping`. Without `leaves` a
  /// number is no node.
  Mapping read(const nlohmann::json& value, const Leaves& leaves = {}) const;
  Node read_node(const nlohmann::json& value) const { return node(value, {}); }

 private:
  template <class Id>
  using Names = std::unordered_map<std::string, Id>;

  NodeList list(const nlohmann::json& nodes, const Leaves& leaves) const;
  Node node(const nlohmann::json& value, const Leaves& leaves) const;
  StorageNode storage(const nlohmann::json& value) const;
  TemporalNode temporal(const nlohmann::json& value) const;
  SpatialNode spatial(const nlohmann::json& value) const;
  SplitNode split(const nlohmann::json& value, SplitKind kind, const Leaves& leaves) const;
  CollectiveNode collective(const nlohmann::json& value) const;
  std::vector<RankVariableId> variables(const nlohmann::json& value) const;

  const Arch& arch_;
  Names<TensorId> tensors_;
  Names<RankVariableId> variables_;
  Names<EinsumId> einsums_;
  Names<ComponentId> components_;
};

}  // namespace sluice::cli
