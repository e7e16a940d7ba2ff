#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "triples/draw/draw.h"

namespace sluice::triples {
namespace {

DimensionSpec draw_dimension(Dice& dice, const std::string& name) {
  return {name, static_cast<int>(2 + dice.below(3)),
          dice.text_of({"All", "All", "Nothing", "Inputs", "Outputs"}),
          dice.chance(4) ? dice.text_of({"Outputs", "Inputs"}) : ""};
}

ComponentSpec plain_memory(Dice& dice, const std::string& name) {
  ComponentSpec spec;
  spec.name = name;
  spec.is_double = dice.chance(12);
  spec.counts_merging = dice.chance(12);
  return spec;
}

/// Several instances of DRAM, by its own dimension or by that of a container around everything.
void draw_ports(Dice& dice, Triple& triple) {
  DimensionSpec ports = draw_dimension(dice, "port");
  ports.reuse.clear();
  if (dice.chance(70)) {
    triple.components.front().spatial.push_back(ports);
    return;
  }
  ComponentSpec chip;
  chip.kind = ComponentSpec::Kind::kContainer;
  chip.name = "Chip";
  chip.spatial = {ports};
  triple.components.insert(triple.components.begin(), chip);
}

/// Where the memory above meets a network.
void draw_network_ports(Dice& dice, const std::vector<DimensionSpec>& grid,
                        ComponentSpec& network) {
  if (network.topology == "bus" || network.topology == "tree") return;
  network.enters_at_edge = false;
  network.ports = "all";
  if (dice.chance(50)) {
    std::set<std::string> nodes;
    for (auto wanted = 1 + dice.below(3); wanted > 0; --wanted) {
      std::string node;
      for (const DimensionSpec& dimension : grid)
        node += (node.empty() ? "" : ", ") +
                std::to_string(dice.below(static_cast<std::uint64_t>(dimension.fanout)));
      nodes.insert("[" + node + "]");
    }
    network.ports = fmt::format("[{}]", fmt::join(nodes, ", "));
  } else if (network.topology == "mesh") {
    network.ports = dice.text_of({"corners", "corners", "edges", "all"});
  } else if (network.topology == "all_to_all") {
    network.ports = dice.text_of({"own", "own", "all"});
  }
}

}  // namespace

void draw_arch(Dice& dice, Triple& triple, Purpose purpose) {
  const auto memory = [&](Dice& d, const std::string& name) {
    ComponentSpec spec = plain_memory(d, name);
    if (d.chance(8) && !has_copies(triple)) {
      const std::string& text = d.any(triple.einsums).text;
      spec.bits_per_value = text.substr(0, text.find('[')) + ": 32";
    }
    return spec;
  };
  const auto add_toll = [&](const char* name) {
    ComponentSpec toll;
    toll.kind = ComponentSpec::Kind::kToll;
    toll.name = name;
    toll.direction = dice.text_of({"down", "up", "up_and_down"});
    triple.components.push_back(toll);
  };
  triple.components.push_back(memory(dice, "DRAM"));
  if (dice.chance(15)) add_toll("Link");
  ComponentSpec buffer = memory(dice, "GB");
  if (dice.chance(15)) buffer.size = std::to_string(8 * (4 + dice.below(60)));
  if (dice.chance(purpose == Purpose::kAny ? 15 : 60))
    buffer.spatial.push_back(draw_dimension(dice, "g"));
  triple.components.push_back(buffer);
  ComponentSpec elements;
  elements.kind = ComponentSpec::Kind::kContainer;
  elements.name = "PE";
  elements.spatial = {draw_dimension(dice, "x"), draw_dimension(dice, "y")};
  triple.components.push_back(elements);
  if (dice.chance(25)) add_toll("Port");
  ComponentSpec registers = memory(dice, "RF");
  if (dice.chance(10)) registers.size = std::to_string(8 * (1 + dice.below(12)));
  triple.components.push_back(registers);
  ComponentSpec unit;
  unit.kind = ComponentSpec::Kind::kCompute;
  unit.by_kind = dice.chance(30);
  if (dice.chance(15)) {
    unit.name = "SIMD";
    unit.in_fork = true;
    unit.enabled = "len(All) == 2";
    triple.components.push_back(unit);
    unit.in_fork = false;
    unit.enabled.clear();
  }
  unit.name = "MAC";
  if (dice.chance(15)) unit.spatial.push_back(draw_dimension(dice, "c"));
  triple.components.push_back(unit);
}

void draw_components(Dice& dice, Triple& triple, const Workload& workload, const Kinds& kinds) {
  std::vector<ComponentSpec>& components = triple.components;
  if (kinds.many_loops && dice.chance(10))
    components.insert(std::find_if(components.begin(), components.end(),
                                   [](const ComponentSpec& c) { return c.name == "GB"; }),
                      plain_memory(dice, "SB"));
  if (kinds.ports && dice.chance(has_common_variable(workload) ? 60 : 4)) draw_ports(dice, triple);
  if (!kinds.leakage || !dice.chance(35)) return;
  for (ComponentSpec& component : components) {
    component.leak_power = dice.chance(75) ? static_cast<int>(1 + dice.below(4)) : 0;
    component.is_gated = dice.chance(50);
  }
}

void grow_trees(Triple& triple) {
  for (ComponentSpec& network : triple.components) {
    if (network.kind != ComponentSpec::Kind::kNetwork || network.topology == "bus" ||
        network.topology == "tree")
      continue;
    network.enters_at_edge = false;
    network.grows_trees = true;
  }
}

void draw_networks(Dice& dice, Triple& triple, const Kinds& kinds, Purpose purpose) {
  const bool for_collectives = purpose == Purpose::kCollectives;
  if (!dice.chance(for_collectives ? 98 : 25)) return;
  for (std::size_t c = triple.components.size(); c-- > 0;) {
    if (triple.components[c].spatial.empty() || triple.components[c].in_fork ||
        !dice.chance(for_collectives ? 97 : 60))
      continue;
    ComponentSpec network;
    network.kind = ComponentSpec::Kind::kNetwork;
    network.name = "Net" + triple.components[c].name;
    network.topology = dice.text_of({"mesh", "mesh", "torus", "ring", "all_to_all", "bus", "tree"});
    network.enters_at_edge = network.topology == "mesh" && dice.chance(50);
    network.is_packed = network.topology == "mesh" && dice.chance(50);
    if (kinds.network_ports && dice.chance(60))
      draw_network_ports(dice, triple.components[c].spatial, network);
    network.grows_trees = kinds.greedy_trees && !network.enters_at_edge && dice.chance(50) &&
                          network.topology != "bus" && network.topology != "tree";
    network.frees_returning_sums = dice.chance(40);
    network.frees_repeats = dice.chance(for_collectives ? 2 : 30);
    if (for_collectives) {
      network.channel_width = static_cast<int>(dice.below(64));
      network.link_bandwidth = 1 + static_cast<int>(dice.below(9));
      network.router_latency = static_cast<int>(dice.below(4));
      network.queue_latency = network.channel_width > 0 ? static_cast<int>(dice.below(4)) : 0;
    }
    triple.components.insert(triple.components.begin() + static_cast<long>(c), network);
  }
}

}  // namespace sluice::triples
