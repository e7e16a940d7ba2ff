#include "description.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/mapping/drawing.h"

namespace sluice::python {
namespace {

using cli::Json;

std::string role_of(const Workload& workload, const TensorRoles& roles, TensorId tensor) {
  if (workload[tensor].persistent) return "persistent";
  if (roles.is_intermediate(tensor)) return "intermediate";
  return roles.is_made(tensor) ? "output" : "input";
}

Json einsum_json(const Workload& workload, const Einsum& einsum) {
  Json variables = Json::object(), operations = Json::object();
  for (const VariableRange& range : einsum.iteration_space)
    variables[workload[range.variable].name] = range.size;
  for (const OperationCount& count : operations_per_point(einsum.expression))
    operations[std::string(operation_name(count.kind))] = count.per_point;
  std::vector<std::string> inputs;
  for (const TensorAccess& access : einsum.accesses)
    if (!access.is_output) inputs.push_back(workload[access.tensor].name);
  return {{"name", einsum.name},
          {"variables", variables},
          {"inputs", inputs},
          {"output", workload[einsum.output().tensor].name},
          {"operations_per_point", operations},
          {"is_copy", einsum.is_copy_operation},
          {"n_instances", einsum.n_instances}};
}

double widest_bits(const Workload& workload, TensorId tensor) {
  double bits = 0;
  for (const Einsum& einsum : workload.einsums)
    for (const TensorAccess& access : einsum.accesses)
      if (access.tensor == tensor) bits = std::max(bits, access.bits_per_value);
  return bits;
}

Json workload_json(const Workload& workload) {
  const TensorRoles roles = tensor_roles(workload);
  Json einsums = Json::array(), tensors = Json::array();
  for (const Einsum& einsum : workload.einsums) einsums.push_back(einsum_json(workload, einsum));
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const Tensor& tensor = workload.tensors[t];
    Json shape = Json::object();
    for (const RankId rank : tensor.ranks) shape[workload[rank].name] = workload[rank].size;
    tensors.push_back({{"name", tensor.name},
                       {"shape", shape},
                       {"role", role_of(workload, roles, TensorId(t))},
                       {"bits_per_value", widest_bits(workload, TensorId(t))}});
  }
  return {{"name", workload.name},
          {"n_instances", workload.n_instances},
          {"einsums", einsums},
          {"tensors", tensors}};
}

std::string kind_of(const Component& component) {
  constexpr const char* kNames[] = {"Memory", "Toll", "Container", "Network", "Compute"};
  return kNames[component.kind.index()];
}

Json component_json(const Arch& arch, ComponentId id, const BoundProblem* problem) {
  const Component& component = arch[id];
  std::optional<double> size;
  if (const auto* memory = std::get_if<Memory>(&component.kind))
    size = problem && !problem->einsums.empty()
               ? problem->einsums.front().components[id.index()].size_bits
               : memory->size_bits.constant();
  Json spatial = Json::object(), actions = Json::array();
  for (const SpatialDimension& dimension : component.spatial)
    spatial[dimension.name] = dimension.fanout;
  for (const Action& action : component.actions)
    actions.push_back({{"name", action.name},
                       {"energy_j", cli::finite_or_null(action.energy_j)},
                       {"throughput", cli::finite_or_null(action.throughput)},
                       {"bits_per_action", action.bits_per_action}});
  return {{"name", component.name},
          {"kind", kind_of(component)},
          {"instances", instances_of(arch, id)},
          {"size_bits", size ? cli::finite_or_null(*size) : Json(nullptr)},
          {"spatial", spatial},
          {"actions", actions},
          {"leak_power_w", component.leak_power_w},
          {"area_m2", component.area_m2 ? Json(*component.area_m2) : Json(nullptr)}};
}

Json arch_json(const Arch& arch, const BoundProblem* problem) {
  Json components = Json::array(), paths = Json::object();
  for (std::size_t c = 0; c < arch.components.size(); ++c)
    components.push_back(component_json(arch, ComponentId(c), problem));
  for (const ComponentId compute : computes_of(arch)) {
    std::vector<std::string> names;
    for (const ComponentId id : path_to(arch, compute))
      if (arch[id].is_memory()) names.push_back(arch[id].name);
    paths[arch[compute].name] = names;
  }
  return {{"name", arch.name},
          {"clock_hz", arch.clock_hz ? Json(*arch.clock_hz) : Json(nullptr)},
          {"components", components},
          {"memories_to", paths}};
}

/// Of the binding: which computes accept each Einsum, and what no mapping is below.
void add_binding(const BoundProblem& problem, Json& description) {
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    std::vector<std::string> computes;
    for (const BoundCompute& compute : problem.einsums[e].computes)
      computes.push_back(problem.arch[compute.component].name);
    description["workload"]["einsums"][e]["computes"] = computes;
  }
  description["bounds"] = {{"compute_s", cli::finite_or_null(problem.bounds.compute_s)},
                           {"memory_s", cli::finite_or_null(problem.bounds.memory_s)},
                           {"energy_floor_j", cli::finite_or_null(problem.bounds.energy_floor_j)}};
}

}  // namespace

Json description_of(const std::optional<Workload>& workload, const std::optional<Arch>& arch,
                    const BoundProblem* problem) {
  Json description = {{"workload", workload ? workload_json(*workload) : Json(nullptr)},
                      {"arch", arch ? arch_json(*arch, problem) : Json(nullptr)}};
  if (problem) add_binding(*problem, description);
  return description;
}

std::string tree_of(const Mapping& mapping, const BoundProblem& problem) {
  DrawingOptions options;
  options.compact = true;
  options.bits_per_value = [&problem](EinsumId einsum, TensorId tensor, ComponentId component) {
    const BoundEinsum& bound = problem[einsum];
    const int index = bound.local_tensor[tensor.index()];
    const auto& bits = bound.components[component.index()].bits_per_value;
    return index < 0 || static_cast<std::size_t>(index) >= bits.size()
               ? 0.0
               : bits[static_cast<std::size_t>(index)];
  };
  return to_drawing(mapping, problem.workload, problem.arch, options);
}

}  // namespace sluice::python
