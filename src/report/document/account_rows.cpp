#include "report/document/account_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/mapping/node_sizes.h"
#include "sluice/model/occupancy_over_time.h"

namespace sluice::cli {
namespace {

std::string kind_name(const Component& component) {
  if (component.is_memory()) return "memory";
  if (component.is_toll()) return "toll";
  if (component.is_network()) return "network";
  return component.is_compute() ? "compute" : "container";
}

Json machine_row(const Arch& arch, std::size_t index, const Action* action) {
  const Component& component = arch.components[index];
  return {{"component", component.name},
          {"kind", kind_name(component)},
          {"instances", instances_of(arch, ComponentId(index))},
          {"action", action ? Json(action->name) : Json(nullptr)},
          {"actions_per_s", action ? finite_or_null(action->throughput) : Json(nullptr)},
          {"bits_per_action", action && !action->values_per_action && !component.is_compute()
                                  ? finite_or_null(action->bits_per_action)
                                  : Json(nullptr)}};
}

}  // namespace

std::function<double(EinsumId, TensorId, ComponentId)> bits_in(const BoundProblem& problem) {
  return [&problem](EinsumId einsum, TensorId tensor, ComponentId component) {
    const BoundEinsum& bound = problem[einsum];
    const auto at = std::find(bound.tensors.begin(), bound.tensors.end(), tensor);
    if (at == bound.tensors.end()) return 0.0;
    const auto& bits = bound.components[component.index()].bits_per_value;
    const auto index = static_cast<std::size_t>(at - bound.tensors.begin());
    return index < bits.size() ? bits[index] : 0.0;
  };
}

Json node_size_rows(const Mapping& mapping, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const NodeSize& size : node_sizes(mapping, problem.workload, bits_in(problem))) {
    Json row = {{"node", size.node}};
    if (size.trips) row["trips"] = *size.trips;
    if (size.tensor) {
      row["tensor"] = problem.workload[*size.tensor].name;
      row["bits"] = finite_or_null(size.bits);
      row["tile"] = size.tile;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json occupancy_over_time_json(const Mapping& mapping, const BoundProblem& problem) {
  const OccupancyOverTime occupancy = occupancy_over_time(problem, mapping);
  Json steps = Json::array();
  for (const ScheduleStep& step : occupancy.steps)
    steps.push_back(step.moved ? "collective on " + problem.workload[*step.moved].name
                               : problem.workload[step.einsum].name);
  Json held = Json::array();
  for (const HeldInterval& interval : occupancy.held)
    held.push_back({{"component", problem.arch[interval.memory].name},
                    {"tensor", problem.workload[interval.tensor].name},
                    {"from", interval.from},
                    {"until", interval.until},
                    {"bits", finite_or_null(interval.bits)}});
  return {{"steps", std::move(steps)}, {"held", std::move(held)}};
}

Json machine_rows(const Arch& arch) {
  Json rows = Json::array();
  for (std::size_t c = 0; c < arch.components.size(); ++c) {
    for (const Action& action : arch.components[c].actions)
      rows.push_back(machine_row(arch, c, &action));
    if (arch.components[c].actions.empty()) rows.push_back(machine_row(arch, c, nullptr));
  }
  return rows;
}

}  // namespace sluice::cli
