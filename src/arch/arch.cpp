#include "sluice/arch/arch.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sluice/support/checked.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// True if a component in fork `outer` is passed on the way to one in fork `inner`.
bool contains(const Arch& arch, std::optional<ForkId> outer, std::optional<ForkId> inner) {
  if (!outer) return true;
  while (inner) {
    if (*inner == *outer) return true;
    inner = arch.forks[inner->index()].parent;
  }
  return false;
}

}  // namespace

bool operator==(const Action& a, const Action& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  const bool same_numbers = same(a.energy_j, b.energy_j) && same(a.throughput, b.throughput);
  const auto rest = [](const Action& action) {
    return std::tie(action.name, action.bits_per_action, action.setup_s, action.values_per_action);
  };
  return same_numbers && rest(a) == rest(b);
}

bool has_whole_actions(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(),
                     [](const Component& own) { return own.has_whole_actions(); });
}

std::optional<ComponentId> find_component(const Arch& arch, const std::string& name) {
  for (std::size_t i = 0; i < arch.components.size(); ++i)
    if (arch.components[i].name == name) return ComponentId(i);
  return std::nullopt;
}

std::vector<ComponentId> path_to(const Arch& arch, ComponentId compute) {
  SLUICE_CHECK(arch[compute].is_compute(), "a path ends at a compute");
  std::vector<ComponentId> path;
  for (std::size_t i = 0; i < compute.index(); ++i) {
    const Component& component = arch.components[i];
    if (!component.is_compute() && contains(arch, component.fork, arch[compute].fork))
      path.emplace_back(i);
  }
  path.push_back(compute);
  return path;
}

std::vector<ComponentId> computes_of(const Arch& arch) {
  std::vector<ComponentId> computes;
  for (std::size_t i = 0; i < arch.components.size(); ++i)
    if (arch.components[i].is_compute()) computes.emplace_back(i);
  return computes;
}

std::int64_t instances_of(const Arch& arch, ComponentId id) {
  std::int64_t instances = 1;
  for (std::size_t i = 0; i <= id.index(); ++i) {
    const Component& component = arch.components[i];
    const bool on_path = i == id.index() ||
                         (!component.is_compute() && contains(arch, component.fork, arch[id].fork));
    if (!on_path) continue;
    for (const SpatialDimension& dimension : component.spatial)
      instances = checked_multiply(instances, dimension.fanout);
  }
  return instances;
}

}  // namespace sluice
