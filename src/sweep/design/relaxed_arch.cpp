#include "relaxed_arch.h"

#include <algorithm>

#include "mapper/common/asked_usage.h"

namespace sluice {
namespace {

/// Whether a fanout means nothing but how many instances there are.
bool has_plain_fanouts(const Arch& arch) {
  return !asks_for_usage(arch) &&
         std::none_of(arch.components.begin(), arch.components.end(), [](const Component& c) {
           const auto* container = std::get_if<Container>(&c.kind);
           return c.is_network() || (container != nullptr && container->array);
         });
}

/// Whether better energies and throughputs make nothing worse: expressions may say anything.
bool has_plain_actions(const Component& component) { return !component.total_latency; }

/// Leakage of all instances; it does not depend on which of them work.
double leak_of_all(const Arch& arch, std::size_t component) {
  return arch.components[component].leak_power_w *
         static_cast<double>(instances_of(arch, ComponentId(component)));
}

void relax(const Component& other, Component* component) {
  if (has_plain_actions(*component))
    for (std::size_t a = 0; a < component->actions.size(); ++a) {
      Action& action = component->actions[a];
      action.energy_j = std::min(action.energy_j, other.actions[a].energy_j);
      action.throughput = std::max(action.throughput, other.actions[a].throughput);
    }
  for (std::size_t d = 0; d < component->spatial.size(); ++d)
    component->spatial[d].fanout = std::max(component->spatial[d].fanout, other.spatial[d].fanout);
  if (auto* memory = std::get_if<Memory>(&component->kind)) {
    const Memory& more = std::get<Memory>(other.kind);
    const auto size = memory->size_bits.constant(), other_size = more.size_bits.constant();
    if (size && other_size && *other_size > *size) memory->size_bits = more.size_bits;
  }
  if (auto* network = std::get_if<Network>(&component->kind)) {
    const Network& better = std::get<Network>(other.kind);
    network->link_bandwidth = std::max(network->link_bandwidth, better.link_bandwidth);
    network->router_latency_s = std::min(network->router_latency_s, better.router_latency_s);
    network->queue_latency_s = std::min(network->queue_latency_s, better.queue_latency_s);
    network->hop_energy_j = std::min(network->hop_energy_j, better.hop_energy_j);
  }
}

}  // namespace

std::string arch_skeleton(const Arch& arch) {
  Arch skeleton = arch;
  const bool plain_fanouts = has_plain_fanouts(arch);
  for (Component& component : skeleton.components) {
    component.area_m2.reset();
    component.leak_power_w = component.leak_power_w > 0 ? 1 : 0;
    if (has_plain_actions(component))
      for (Action& action : component.actions) {
        action.energy_j = 0;
        action.throughput = kUnbounded;
      }
    if (plain_fanouts)
      for (SpatialDimension& dimension : component.spatial) dimension.fanout = 1;
    if (auto* memory = std::get_if<Memory>(&component.kind); memory && memory->size_bits.constant())
      memory->size_bits = Expression::literal(0);
    if (auto* network = std::get_if<Network>(&component.kind)) {
      network->link_bandwidth = kUnbounded;
      network->router_latency_s = network->queue_latency_s = network->hop_energy_j = 0;
    }
  }
  return to_yaml(skeleton);
}

Arch relaxed_arch(const std::vector<const Arch*>& archs) {
  Arch result = *archs.front();
  std::vector<const Arch*> least_leak(result.components.size(), archs.front());
  for (const Arch* arch : archs)
    for (std::size_t c = 0; c < least_leak.size(); ++c) {
      relax(arch->components[c], &result.components[c]);
      if (leak_of_all(*arch, c) < leak_of_all(*least_leak[c], c)) least_leak[c] = arch;
    }
  for (std::size_t c = 0; c < least_leak.size(); ++c) {
    const ComponentId id(c);
    const auto instances = instances_of(result, id),
               instances_then = instances_of(*least_leak[c], id);
    result.components[c].leak_power_w =
        instances == instances_then
            ? least_leak[c]->components[c].leak_power_w
            : leak_of_all(*least_leak[c], c) / static_cast<double>(instances);
    result.components[c].area_m2.reset();
  }
  return result;
}

}  // namespace sluice
