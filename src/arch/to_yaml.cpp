#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sluice/arch/arch.h"
#include "support/yaml_text.h"

namespace sluice {
namespace {

std::string scalar(const Expression& expression) { return yaml_scalar(expression.to_string()); }

const char* name_of(SystolicArray::Dataflow dataflow) {
  switch (dataflow) {
    case SystolicArray::Dataflow::kWeightStationary:
      return "ws";
    case SystolicArray::Dataflow::kOutputStationary:
      return "os";
    case SystolicArray::Dataflow::kInputStationary:
      return "is";
  }
  return "";
}

std::string text_of(const NetworkPorts& ports) {
  switch (ports.places) {
    case PortPlaces::kCorners:
      return "corners";
    case PortPlaces::kEdges:
      return "edges";
    case PortPlaces::kAll:
      return "all";
    case PortPlaces::kOwn:
      return "own";
    case PortPlaces::kEntry:
    case PortPlaces::kListed:
      break;
  }
  std::vector<std::string> nodes;
  for (const std::vector<std::int64_t>& node : ports.nodes)
    nodes.push_back(fmt::format("[{}]", fmt::join(node, ", ")));
  return yaml_list(nodes);
}

/// The keys of one component; defaults are left out.
class ComponentPrinter {
 public:
  ComponentPrinter(const Component& component, std::string indent)
      : component_(component), indent_(std::move(indent)) {}

  std::string print() {
    std::visit([&](const auto& kind) { head(kind); }, component_.kind);
    line("name", component_.name);
    std::visit([&](const auto& kind) { body(kind); }, component_.kind);
    spatial();
    if (component_.enabled) line("enabled", scalar(*component_.enabled));
    if (component_.total_latency) line("total_latency", scalar(*component_.total_latency));
    if (component_.leak_power_w != 0) line("leak_power", yaml_number(component_.leak_power_w));
    if (component_.power_gated) line("power_gated", "true");
    if (component_.area_m2) line("area", yaml_number(*component_.area_m2));
    actions();
    return std::move(text_);
  }

 private:
  void line(const char* key, const std::string& value) {
    text_ += fmt::format("{}  {}: {}\n", indent_, key, value);
  }
  void number(const char* key, double value, double default_value) {
    if (value != default_value) line(key, yaml_number(value));
  }
  void tag(const char* name) { text_ += fmt::format("{}- !{}\n", indent_, name); }

  void head(const Memory&) { tag("Memory"); }
  void head(const Toll&) { tag("Toll"); }
  void head(const Container&) { tag("Container"); }
  void head(const Network&) { tag("Network"); }
  void head(const Compute&) { tag("Compute"); }

  void body(const Memory& memory) {
    line("size", scalar(memory.size_bits));
    tensors(memory.tensors);
    bits(memory.bits_per_value);
    if (memory.buffering == Buffering::kDouble) line("buffering", "double");
    if (memory.ports == Ports::kSeparate) line("ports", "separate");
    if (memory.merging_reads == MergingReads::kCounted) line("merging_reads", "counted");
    if (memory.draining_reads == DrainingReads::kFree) line("draining_reads", "free");
    if (memory.partial_actions == PartialActions::kWhole) line("partial_actions", "whole");
  }

  void body(const Toll& toll) {
    tensors(toll.tensors);
    bits(toll.bits_per_value);
    if (toll.direction == Toll::Direction::kDown) line("direction", "down");
    if (toll.direction == Toll::Direction::kUp) line("direction", "up");
  }

  void body(const Container& container) {
    if (!container.array) return;
    YamlFlowMap map;
    map.add("kind", "systolic").add("dataflow", name_of(container.array->dataflow));
    map.add("rows", container.array->rows).add("cols", container.array->cols);
    line("array", map.text());
  }

  void body(const Network& network) {
    line("topology", facts_of(network.topology).name);
    if (network.entry == NetworkEntry::kEdge) line("entry", "edge");
    if (network.layout == NodeLayout::kPacked) line("layout", "packed");
    if (network.ports.places != PortPlaces::kEntry) line("ports", text_of(network.ports));
    if (network.multicast == Multicast::kGreedyTree) line("multicast", "greedy_tree");
    if (network.returning_sums == ReturningSums::kFree) line("returning_sums", "free");
    if (network.repeated_values == RepeatedValues::kFree) line("repeated_values", "free");
    if (network.implicit_time == ImplicitTime::kOnce) line("implicit_time", "once");
    if (network.implicit_time == ImplicitTime::kNone) line("implicit_time", "none");
    number("channel_width", static_cast<double>(network.channel_width_bits), 1);
    line("link_bandwidth", yaml_number(network.link_bandwidth));
    number("router_latency", network.router_latency_s, 0);
    number("queue_latency", network.queue_latency_s, 0);
    line("hop_energy", yaml_number(network.hop_energy_j));
    number("bits_per_hop_energy", network.bits_per_hop_energy, 1);
  }

  void body(const Compute&) {}

  void tensors(const TensorPolicy& policy) {
    YamlFlowMap map;
    if (policy.keep) map.add("keep", scalar(*policy.keep));
    if (policy.may_keep) map.add("may_keep", scalar(*policy.may_keep));
    if (policy.back) map.add("back", scalar(*policy.back));
    if (!policy.tensor_order_options.empty()) {
      std::vector<std::string> options;
      for (const std::vector<Expression>& groups : policy.tensor_order_options) {
        std::vector<std::string> sets;
        for (const Expression& group : groups) sets.push_back(scalar(group));
        options.push_back(yaml_list(sets));
      }
      map.add("tensor_order_options", yaml_list(options));
    }
    if (!policy.force_memory_hierarchy_order) map.add("force_memory_hierarchy_order", "false");
    if (!map.empty()) line("tensors", map.text());
  }

  void bits(const std::vector<BitsOverride>& overrides) {
    if (overrides.empty()) return;
    YamlFlowMap map;
    for (const BitsOverride& override_ : overrides)
      map.add(override_.tensors.to_string(), scalar(override_.bits_per_value));
    line("bits_per_value", map.text());
  }

  void spatial() {
    if (component_.spatial.empty()) return;
    text_ += indent_ + "  spatial:\n";
    for (const SpatialDimension& dimension : component_.spatial) {
      YamlFlowMap map;
      map.add("name", dimension.name).add("fanout", std::to_string(dimension.fanout));
      map.add("may_reuse", scalar(dimension.may_reuse));
      if (dimension.reuse) map.add("reuse", scalar(*dimension.reuse));
      if (dimension.min_usage) map.add("min_usage", scalar(*dimension.min_usage));
      text_ += fmt::format("{}  - {}\n", indent_, map.text());
    }
  }

  void actions() {
    if (component_.actions.empty()) return;
    text_ += indent_ + "  actions:\n";
    for (const Action& action : component_.actions) {
      YamlFlowMap map;
      map.add("name", action.name)
          .add("energy", std::isnan(action.energy_j) ? "null" : yaml_number(action.energy_j));
      map.add("throughput",
              std::isnan(action.throughput) ? "null" : yaml_number(action.throughput));
      if (action.bits_per_action != 1)
        map.add("bits_per_action", yaml_number(action.bits_per_action));
      if (action.values_per_action)
        map.add("values_per_action", yaml_number(*action.values_per_action));
      if (action.setup_s != 0) map.add("setup", yaml_number(action.setup_s));
      text_ += fmt::format("{}  - {}\n", indent_, map.text());
    }
  }

  const Component& component_;
  std::string indent_;
  std::string text_;
};

/// The forks around a component, outermost first.
std::vector<ForkId> fork_chain(const Arch& arch, std::optional<ForkId> fork) {
  std::vector<ForkId> chain;
  for (; fork; fork = arch.forks[fork->index()].parent) chain.insert(chain.begin(), *fork);
  return chain;
}

}  // namespace

std::string to_yaml(const Arch& arch) {
  std::string text = "arch:\n";
  if (!arch.name.empty()) text += fmt::format("  name: {}\n", yaml_scalar(arch.name));
  if (arch.clock_hz) text += fmt::format("  clock: {}\n", yaml_number(*arch.clock_hz));
  text += "  nodes:\n";
  std::vector<ForkId> open;
  for (const Component& component : arch.components) {
    const std::vector<ForkId> chain = fork_chain(arch, component.fork);
    std::size_t common = 0;
    while (common < open.size() && common < chain.size() && open[common] == chain[common]) ++common;
    for (std::size_t depth = common; depth < chain.size(); ++depth) {
      const std::string indent(2 + 2 * depth, ' ');
      text += fmt::format("{}- !Fork\n{}  nodes:\n", indent, indent);
    }
    open = chain;
    text += ComponentPrinter(component, std::string(2 + 2 * chain.size(), ' ')).print();
  }
  return text;
}

}  // namespace sluice
