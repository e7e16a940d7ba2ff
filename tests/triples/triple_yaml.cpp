#include <fmt/format.h>

#include "report/document/disagreements.h"
#include "sluice/frontend/load.h"
#include "triples/triple.h"

namespace sluice::triples {
namespace {

std::string spatial_text(const std::vector<DimensionSpec>& spatial) {
  if (spatial.empty()) return "";
  std::string text;
  for (const DimensionSpec& dimension : spatial) {
    text += fmt::format("{}{{name: {}, fanout: {}, may_reuse: {}", text.empty() ? "" : ", ",
                        dimension.name, dimension.fanout, dimension.may_reuse);
    if (!dimension.reuse.empty()) text += ", reuse: " + dimension.reuse;
    text += "}";
  }
  return ", spatial: [" + text + "]";
}

std::string compute_actions(bool by_kind) {
  if (!by_kind) return "{name: compute, energy: 1, throughput: 1}";
  std::string text;
  for (const char* kind : {"mul_add", "add", "sub", "mul", "div", "max", "min", "exp", "copy"})
    text += fmt::format("{}{{name: {}, energy: 1, throughput: 1}}", text.empty() ? "" : ", ", kind);
  return text;
}

std::string times_text(const ComponentSpec& network) {
  std::string text;
  const auto add = [&](const char* name, int value) {
    if (value != 0) text += fmt::format(", {}: {}", name, value);
  };
  add("channel_width", network.channel_width);
  add("router_latency", network.router_latency);
  add("queue_latency", network.queue_latency);
  return text;
}

std::string leakage_text(const ComponentSpec& c) {
  return (c.leak_power > 0 ? fmt::format(", leak_power: {}", c.leak_power) : "") +
         (c.is_gated ? ", power_gated: true" : "");
}

std::string component_text(const ComponentSpec& c) {
  const std::string spatial = spatial_text(c.spatial) + leakage_text(c);
  const std::string bits =
      c.bits_per_value.empty() ? "" : ", bits_per_value: {" + c.bits_per_value + "}";
  const std::string block =
      c.bits_per_action == 1 ? "" : fmt::format(", bits_per_action: {}", c.bits_per_action);
  switch (c.kind) {
    case ComponentSpec::Kind::kMemory:
      return fmt::format(
          "!Memory {{name: {}, size: {}{}{}{}{}{}{}, actions: [{{name: read, energy: 1, "
          "throughput: "
          "1{}}}, "
          "{{name: write, energy: 1, throughput: 1{}}}]}}",
          c.name, c.size, c.is_double ? ", buffering: double" : "",
          c.counts_merging ? ", merging_reads: counted" : "",
          c.frees_drains ? ", draining_reads: free" : "",
          c.whole_actions ? ", partial_actions: whole" : "", bits, spatial, block, block);
    case ComponentSpec::Kind::kToll:
      return fmt::format(
          "!Toll {{name: {}, direction: {}{}{}, actions: [{{name: read, energy: 1, throughput: "
          "1}}]}}",
          c.name, c.direction, bits, spatial);
    case ComponentSpec::Kind::kNetwork:
      return fmt::format(
          "!Network {{name: {}{}, topology: {}{}{}{}{}{}{}{}, link_bandwidth: {}, hop_energy: 1}}",
          c.name, leakage_text(c), c.topology, c.enters_at_edge ? ", entry: edge" : "",
          c.is_packed ? ", layout: packed" : "", c.ports.empty() ? "" : ", ports: " + c.ports,
          c.grows_trees ? ", multicast: greedy_tree" : "",
          c.frees_returning_sums ? ", returning_sums: free" : "",
          c.frees_repeats ? ", repeated_values: free" : "", times_text(c), c.link_bandwidth);
    case ComponentSpec::Kind::kContainer:
      return fmt::format("!Container {{name: {}{}}}", c.name, spatial);
    case ComponentSpec::Kind::kCompute:
      return fmt::format("!Compute {{name: {}{}{}, actions: [{}]}}", c.name,
                         c.enabled.empty() ? "" : fmt::format(", enabled: \"{}\"", c.enabled),
                         spatial, compute_actions(c.by_kind));
  }
  return {};
}

std::string collective_text(const NodeSpec& node) {
  std::string text =
      fmt::format("!Collective {{type: {}, tensor: {}, src: {}, over: [{}]", node.type,
                  node.names[0], node.component, fmt::join(node.over, ", "));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format(", {}: {}", name, value);
  };
  add("op", node.op);
  add("dst", node.destination);
  add("root", node.root);
  add("algorithm", node.algorithm);
  return text + "}";
}

std::string node_text(const NodeSpec& node) {
  const std::string names = fmt::format("[{}]", fmt::join(node.names, ", "));
  switch (node.kind) {
    case NodeSpec::Kind::kStorage: {
      std::string text =
          fmt::format("!Storage {{tensors: {}, component: {}", names, node.component);
      if (node.sliding) text += ", sliding: true";
      if (node.incremental) text += ", incremental: true";
      if (!node.over_peers.empty())
        text += fmt::format(", shared_by: {}, over: {}, along: {}", node.shared_by, node.over_peers,
                            node.along);
      if (node.persistent) text += ", persistent: true";
      if (node.resident) text += ", resident: true";
      if (!node.einsums.empty())
        text += fmt::format(", einsums: [{}]", fmt::join(node.einsums, ", "));
      return text + "}";
    }
    case NodeSpec::Kind::kTemporal:
      return fmt::format(
          "!Temporal {{rank_variable: {}, tile_shape: {}{}}}", names, node.tile,
          node.first_tile ? fmt::format(", initial_tile_shape: {}", node.first_tile) : "");
    case NodeSpec::Kind::kSpatial:
      return fmt::format("!Spatial {{rank_variable: {}, tile_shape: {}, component: {}, name: {}}}",
                         names, node.tile, node.component, node.dimension);
    case NodeSpec::Kind::kCompute:
      return fmt::format("!Compute {{einsum: {}, component: {}}}", node.names[0], node.component);
    case NodeSpec::Kind::kSequential:
      return "!" + node.split;
    case NodeSpec::Kind::kCollective:
      return collective_text(node);
  }
  return {};
}

void add_nodes(const std::vector<NodeSpec>& nodes, const std::string& indent, std::string& text) {
  for (const NodeSpec& node : nodes) {
    text += indent + "- " + node_text(node) + "\n";
    if (node.kind != NodeSpec::Kind::kSequential) continue;
    if (!node.shared_out.empty()) text += indent + "  over: " + node.shared_out + "\n";
    if (!node.shares.empty())
      text += fmt::format("{}  shares: [{}]\n", indent, fmt::join(node.shares, ", "));
    std::string forward;
    for (const auto& [tensor, memory] : node.forward)
      forward += (forward.empty() ? "" : ", ") + tensor + ": " + memory;
    if (!forward.empty()) text += indent + "  forward: {" + forward + "}\n";
    text += indent + "  nodes:\n";
    for (const std::vector<NodeSpec>& child : node.children) {
      if (child.size() == 1 && child[0].kind == NodeSpec::Kind::kCollective) {
        add_nodes(child, indent + "  ", text);
        continue;
      }
      text += indent + "  - !Nested\n" + indent + "    nodes:\n";
      add_nodes(child, indent + "    ", text);
    }
  }
}

}  // namespace

std::string to_yaml(const Triple& triple) {
  std::string text = "workload:\n  rank_sizes: {";
  for (std::size_t i = 0; i < triple.rank_sizes.size(); ++i)
    text += fmt::format("{}{}: {}", i ? ", " : "", triple.rank_sizes[i].first,
                        triple.rank_sizes[i].second);
  text += fmt::format("}}\n  bits_per_value: {{{}}}\n", triple.bits_per_value);
  if (!triple.persistent.empty()) text += "  persistent_tensors: " + triple.persistent + "\n";
  if (!triple.initial.empty()) text += "  initial: {" + triple.initial + "}\n";
  if (triple.n_instances != 1) text += fmt::format("  n_instances: {}\n", triple.n_instances);
  if (!triple.bounds.empty())
    text += fmt::format("  iteration_space_shape: [{}]\n", fmt::join(triple.bounds, ", "));
  text += "  einsums:\n";
  for (const EinsumSpec& einsum : triple.einsums) {
    text += fmt::format("  - {{einsum: \"{}\", name: {}", einsum.text, einsum.name);
    if (einsum.is_copy) text += ", is_copy_operation: true";
    if (einsum.n_instances != 1) text += fmt::format(", n_instances: {}", einsum.n_instances);
    text += "}\n";
  }
  text += "arch:\n  nodes:\n";
  for (const ComponentSpec& component : triple.components) {
    if (component.in_fork)
      text += "  - !Fork\n    nodes:\n    - " + component_text(component) + "\n";
    else
      text += "  - " + component_text(component) + "\n";
  }
  text += "mapping:\n  nodes:\n";
  add_nodes(triple.nodes, "  ", text);
  return text;
}

std::optional<LoadedTriple> load(const Triple& triple, std::string* why) {
  auto specs = load_specs_from_text({{"triple.yaml", to_yaml(triple)}}, {});
  if (!specs || specs->mappings.size() != 1) {
    if (why) *why = specs ? "no mapping" : to_string(specs.error()[0]);
    return std::nullopt;
  }
  auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) {
    if (why) *why = to_string(problem.error()[0]);
    return std::nullopt;
  }
  return LoadedTriple{std::move(*problem), std::move(specs->mappings[0])};
}

std::vector<std::string> differences(const LoadedTriple& triple) {
  const auto model = evaluate(triple.problem, triple.mapping);
  const Execution executed =
      execute(triple.problem.workload, triple.problem.arch, triple.mapping, {});
  return cli::disagreements(triple.problem, model, executed);
}

}  // namespace sluice::triples
