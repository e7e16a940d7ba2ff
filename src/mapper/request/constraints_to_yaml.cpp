#include <fmt/format.h>

#include "sluice/mapper/constraints.h"
#include "support/yaml_text.h"

namespace sluice {
namespace {

class ConstraintsPrinter {
 public:
  ConstraintsPrinter(const Workload& workload, const Arch& arch)
      : workload_(workload), arch_(arch) {}

  std::string print(const Constraints& constraints) {
    section("storage", constraints.storage);
    section("tiles", constraints.tiles);
    section("spatial", constraints.spatial);
    section("fusion", constraints.fusion);
    section("loop_orders", constraints.loop_orders);
    section("schedules", constraints.schedules);
    section("collectives", constraints.collectives);
    return text_.empty() ? "constraints: {}\n" : "constraints:\n" + text_;
  }

 private:
  template <class Constraint>
  void section(const char* key, const std::vector<Constraint>& constraints) {
    if (constraints.empty()) return;
    text_ += fmt::format("  {}:\n", key);
    for (const Constraint& constraint : constraints) {
      YamlFlowMap map;
      map.add("name", yaml_scalar(constraint.name));
      fill(map, constraint);
      text_ += fmt::format("  - {}\n", map.text());
    }
  }

  template <class Id>
  std::string names(const std::vector<Id>& ids) const {
    std::vector<std::string> result;
    for (const Id id : ids) result.push_back(workload_[id].name);
    return yaml_list(result);
  }

  void add_einsum(YamlFlowMap& map, const std::optional<EinsumId>& einsum) const {
    if (einsum) map.add("einsum", workload_[*einsum].name);
  }

  void fill(YamlFlowMap& map, const StorageConstraint& c) const {
    add_einsum(map, c.einsum);
    map.add("memory", arch_[c.memory].name);
    if (!c.keep.empty()) map.add("keep", names(c.keep));
    if (!c.forbid.empty()) map.add("forbid", names(c.forbid));
  }

  void fill(YamlFlowMap& map, const TileConstraint& c) const {
    add_einsum(map, c.einsum);
    map.add("memory", arch_[c.memory].name).add("rank_variable", workload_[c.variable].name);
    map.add("minimum", std::to_string(c.minimum));
    if (c.maximum) map.add("maximum", std::to_string(*c.maximum));
    if (!c.tensors.empty()) map.add("tensors", names(c.tensors));
  }

  void fill(YamlFlowMap& map, const SpatialConstraint& c) const {
    add_einsum(map, c.einsum);
    map.add("component", arch_[c.component].name);
    map.add("dimension", arch_[c.component].spatial.at(c.dimension).name);
    map.add("rank_variables", names(c.variables));
  }

  void fill(YamlFlowMap& map, const FusionConstraint& c) const {
    map.add("tensor", workload_[c.tensor].name).add("fused", c.fused ? "true" : "false");
    if (c.memory) map.add("memory", arch_[*c.memory].name);
  }

  void fill(YamlFlowMap& map, const LoopOrderConstraint& c) const {
    add_einsum(map, c.einsum);
    map.add("memory", arch_[c.memory].name).add("order", names(c.order));
  }

  void fill(YamlFlowMap& map, const ScheduleConstraint& c) const {
    map.add("einsums", names(c.einsums)).add("kind", split_name(c.kind));
  }

  void fill(YamlFlowMap& map, const CollectiveConstraint& c) const {
    map.add("tensor", workload_[c.tensor].name);
    std::vector<std::string> types;
    for (const CollectiveType type : c.types) types.push_back(collective_name(type));
    if (!types.empty()) map.add("types", yaml_list(types));
    if (!c.over.empty()) map.add("over", yaml_list(c.over));
    if (!c.algorithms.empty()) map.add("algorithms", yaml_list(c.algorithms));
  }

  const Workload& workload_;
  const Arch& arch_;
  std::string text_;
};

}  // namespace

std::string to_yaml(const Constraints& constraints, const Workload& workload, const Arch& arch) {
  return ConstraintsPrinter(workload, arch).print(constraints);
}

}  // namespace sluice
