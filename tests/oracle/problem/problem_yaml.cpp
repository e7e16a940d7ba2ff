#include <fmt/format.h>

#include <set>

#include "oracle/problem/random_problem.h"

namespace sluice::oracle {
namespace {

std::string access_text(const AccessSpec& access, bool is_output) {
  std::string ranks;
  for (const auto& [rank, index] : access.projection)
    ranks += fmt::format("{}{}: {}", ranks.empty() ? "" : ", ", rank, index);
  return fmt::format("    - {{name: {}, projection: {{{}}}{}}}\n", access.tensor, ranks,
                     is_output ? ", output: true" : "");
}

std::string einsum_text(const EinsumSpec& einsum) {
  std::string text = fmt::format("  - name: {}\n", einsum.name);
  if (einsum.is_copy) text += "    is_copy_operation: true\n";
  if (einsum.n_instances != 1) text += fmt::format("    n_instances: {}\n", einsum.n_instances);
  if (!einsum.bounds.empty()) {
    text += "    iteration_space_shape: [";
    for (std::size_t i = 0; i < einsum.bounds.size(); ++i)
      text += (i ? ", " : "") + einsum.bounds[i];
    text += "]\n";
  }
  text += "    tensor_accesses:\n";
  for (const AccessSpec& input : einsum.inputs) text += access_text(input, false);
  text += access_text(einsum.output, true);
  std::string inputs;
  for (const AccessSpec& input : einsum.inputs)
    if (input.tensor != einsum.weight) inputs += (inputs.empty() ? "" : " | ") + input.tensor;
  text += fmt::format("    renames: {{input: {}, output: {}, weight: {}}}\n",
                      inputs.empty() ? "Nothing" : inputs, einsum.output.tensor,
                      einsum.weight.empty() ? "Nothing" : einsum.weight);
  return text;
}

std::string spatial_text(const std::vector<FanoutSpec>& spatial) {
  if (spatial.empty()) return "";
  std::string text = ", spatial: [";
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const FanoutSpec& s = spatial[i];
    text += fmt::format("{}{{name: {}, fanout: {}, may_reuse: {}", i ? ", " : "", s.name, s.fanout,
                        s.may_reuse);
    if (!s.reuse.empty()) text += ", reuse: " + s.reuse;
    if (!s.min_usage.empty()) text += ", min_usage: " + s.min_usage;
    text += "}";
  }
  return text + "]";
}

std::string policy_text(const MemorySpec& m) {
  std::vector<std::string> keys;
  if (!m.keep.empty()) keys.push_back("keep: " + m.keep);
  if (!m.may_keep.empty()) keys.push_back("may_keep: " + m.may_keep);
  if (!m.back.empty()) keys.push_back("back: " + m.back);
  if (m.any_order) keys.emplace_back("force_memory_hierarchy_order: false");
  std::vector<std::string> options;
  for (const std::vector<std::string>& option : m.tensor_order)
    options.push_back(fmt::format("[{}]", fmt::join(option, ", ")));
  if (!options.empty())
    keys.push_back(fmt::format("tensor_order_options: [{}]", fmt::join(options, ", ")));
  return keys.empty() ? "" : fmt::format(", tensors: {{{}}}", fmt::join(keys, ", "));
}

std::string behaviour_text(const MemorySpec& m) {
  std::string text;
  if (!m.bits_per_value.empty()) text += ", bits_per_value: {" + m.bits_per_value + "}";
  if (m.is_double) text += ", buffering: double";
  if (m.separate_ports) text += ", ports: separate";
  if (m.counted_merges) text += ", merging_reads: counted";
  if (m.free_drains) text += ", draining_reads: free";
  if (m.whole_actions) text += ", partial_actions: whole";
  return text;
}

std::string network_text(const MemorySpec& m) {
  const NetworkSpec& n = m.network;
  std::string text = fmt::format(
      "  - !Network {{name: {}, leak_power: {}, topology: {}, implicit_time: {}, hop_energy: {}, "
      "channel_width: {}, link_bandwidth: {}, router_latency: {}, queue_latency: {}",
      m.name, m.leak, n.topology, n.implicit_time, n.hop_energy, n.channel_width, n.link_bandwidth,
      n.router_latency, n.queue_latency);
  if (n.from_edge) text += ", entry: edge";
  if (!n.ports.empty()) text += ", ports: " + n.ports;
  if (n.grows_trees) text += ", multicast: greedy_tree";
  if (n.free_sums) text += ", returning_sums: free";
  if (m.power_gated) text += ", power_gated: true";
  return text + "}\n";
}

std::string memory_text(const MemorySpec& m, const std::string& indent) {
  if (m.kind == HolderKind::kNetwork) return network_text(m);
  const bool is_memory = m.kind == HolderKind::kMemory;
  std::string text = fmt::format("{}- !{} {{name: {}, leak_power: {}{}", indent,
                                 is_memory                     ? "Memory"
                                 : m.kind == HolderKind::kToll ? "Toll"
                                                               : "Container",
                                 m.name, m.leak, spatial_text(m.spatial));
  if (m.power_gated) text += ", power_gated: true";
  if (!m.array.empty())
    text += fmt::format(", array: {{kind: systolic, dataflow: {}, rows: {}, cols: {}}}", m.array,
                        m.spatial.front().name, m.spatial.back().name);
  if (m.kind == HolderKind::kContainer) return text + "}\n";
  if (is_memory) text += ", size: " + m.size;
  if (!m.direction.empty()) text += ", direction: " + m.direction;
  text += policy_text(m);
  if (is_memory) text += behaviour_text(m);
  if (!m.total_latency.empty()) text += fmt::format(", total_latency: \"{}\"", m.total_latency);
  const std::string width = m.values_per_action > 0
                                ? fmt::format("values_per_action: {}", m.values_per_action)
                                : fmt::format("bits_per_action: {}", m.bits_per_action);
  const auto action = [&](const char* name, int energy, const std::string& throughput) {
    return fmt::format("{{name: {}, energy: {}, throughput: {}, {}}}", name, energy, throughput,
                       width);
  };
  text += ", actions: [" + action("read", m.read_energy, m.read_throughput);
  if (is_memory) text += ", " + action("write", m.write_energy, m.write_throughput);
  return text + "]}\n";
}

std::string compute_text(const ComputeSpec& c, const std::string& indent) {
  std::string text = fmt::format("{}- !Compute {{name: {}, leak_power: {}{}", indent, c.name,
                                 c.leak, spatial_text(c.spatial));
  if (c.power_gated) text += ", power_gated: true";
  if (!c.total_latency.empty()) text += fmt::format(", total_latency: \"{}\"", c.total_latency);
  if (!c.enabled.empty()) text += fmt::format(", enabled: \"{}\"", c.enabled);
  return text + fmt::format(", actions: [{{name: compute, energy: {}, throughput: {}}}]}}\n",
                            c.energy, c.throughput);
}

/// Tensors that are read before they are written: states of recurrences.
std::vector<std::string> states_of(const ProblemSpec& spec) {
  std::vector<std::string> states;
  std::set<std::string> read;
  for (const EinsumSpec& einsum : spec.einsums) {
    for (const AccessSpec& input : einsum.inputs) read.insert(input.tensor);
    if (read.count(einsum.output.tensor)) states.push_back(einsum.output.tensor + ": 0");
  }
  return states;
}

std::string limit_text(int limit) {
  return limit == kUnlimitedLoops ? "inf" : std::to_string(limit);
}

}  // namespace

std::string to_yaml(const ProblemSpec& spec) {
  std::string text = "workload:\n  rank_sizes: {";
  for (std::size_t i = 0; i < spec.rank_sizes.size(); ++i)
    text +=
        fmt::format("{}{}: {}", i ? ", " : "", spec.rank_sizes[i].first, spec.rank_sizes[i].second);
  text += fmt::format("}}\n  bits_per_value: {{{}}}\n", spec.bits_per_value);
  if (!spec.persistent.empty()) text += "  persistent_tensors: " + spec.persistent + "\n";
  if (spec.n_instances != 1) text += fmt::format("  n_instances: {}\n", spec.n_instances);
  std::vector<std::string> states = states_of(spec);
  for (const EinsumSpec& einsum : spec.einsums)
    if (std::count(spec.filled.begin(), spec.filled.end(), einsum.output.tensor) > 0)
      states.push_back(einsum.output.tensor + ": 0");
  if (!states.empty()) text += fmt::format("  initial: {{{}}}\n", fmt::join(states, ", "));
  text += "  einsums:\n";
  for (const EinsumSpec& einsum : spec.einsums) text += einsum_text(einsum);
  text += "arch:\n  nodes:\n";
  for (std::size_t i = 0; i < spec.memories.size(); ++i) {
    text += memory_text(spec.memories[i], "  ");
    if (!spec.fork || i != fork_place(spec)) continue;
    text += "  - !Fork\n    nodes:\n";
    if (spec.fork->memory) text += memory_text(*spec.fork->memory, "    ");
    text += compute_text(spec.fork->compute, "    ");
  }
  text += compute_text(spec.compute, "  ");
  text += fmt::format("mapper: {{max_fused_loops: {}, max_fused_loops_per_rank: {}}}\n",
                      limit_text(spec.max_fused_loops), limit_text(spec.max_fused_loops_per_rank));
  return text;
}

}  // namespace sluice::oracle
