#include "sluice/model/unknown_prices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sluice/support/error.h"

namespace sluice {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool takes_unknown_time(const Component& component, const std::string& name) {
  return std::any_of(component.actions.begin(), component.actions.end(), [&](const Action& action) {
    return action.name == name && has_unknown_time(component, action);
  });
}

}  // namespace

bool has_unknown_time(const Component& component, const Action& action) {
  return !component.total_latency && std::isnan(action.throughput);
}

std::vector<std::string> unknown_times(const Arch& arch) {
  std::vector<std::string> names;
  for (const Component& component : arch.components)
    for (const Action& action : component.actions)
      if (has_unknown_time(component, action))
        names.push_back(action.name + " of " + component.name);
  return names;
}

Arch with_unlimited_times(Arch arch) {
  for (Component& component : arch.components)
    for (Action& action : component.actions)
      if (std::isnan(action.throughput)) action.throughput = kUnbounded;
  return arch;
}

void forget_unknown_times(const BoundProblem& problem, Cost* cost) {
  bool any = false;
  for (const EnergyRow& row : cost->energy) {
    if (row.actions == 0 || !takes_unknown_time(problem.arch[row.component], row.action)) continue;
    any = true;
    for (LatencyRow& time : cost->latency)
      if (time.component == row.component && time.einsum == row.einsum) time.latency_s = kUnknown;
  }
  if (!any) return;
  cost->latency_s = kUnknown;
  if (cost->latency_cycles) cost->latency_cycles = kUnknown;
  for (LatencyPart& part : cost->breakdown) part.seconds = kUnknown;
  for (EnergyRow& row : cost->energy) {
    if (row.action != "leak" || problem.arch[row.component].leak_power_w == 0) continue;
    row.actions = row.energy_j = kUnknown;
    cost->leak_energy_j = cost->energy_j = kUnknown;
  }
}

bool has_unknown_energies(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(), [](const Component& own) {
    return std::any_of(own.actions.begin(), own.actions.end(),
                       [](const Action& action) { return std::isnan(action.energy_j); });
  });
}

Arch without_unknown_energies(Arch arch) {
  for (Component& component : arch.components)
    for (Action& action : component.actions)
      if (std::isnan(action.energy_j)) action.energy_j = 0;
  return arch;
}

bool has_unknown_prices(const Arch& arch) {
  return has_unknown_energies(arch) || !unknown_times(arch).empty();
}

BoundProblem without_unknown_prices(BoundProblem problem) {
  if (has_unknown_energies(problem.arch)) {  // binding adds energies up
    auto freed = bind(problem.workload, without_unknown_energies(std::move(problem.arch)),
                      problem.algorithms);
    SLUICE_CHECK(freed.has_value(), "a problem that was bound does not bind without its energies");
    problem = std::move(*freed);
  }
  problem.arch = with_unlimited_times(std::move(problem.arch));
  return problem;
}

}  // namespace sluice
