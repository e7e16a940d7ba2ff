#include <fmt/format.h>

#include "oracle/random_problem.h"

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

std::string memory_text(const MemorySpec& m, const std::string& indent) {
  std::string text = fmt::format("{}- !Memory {{name: {}, size: {}, leak_power: {}{}", indent,
                                 m.name, m.size, m.leak, spatial_text(m.spatial));
  std::string policy;
  if (!m.keep.empty()) policy += "keep: " + m.keep;
  if (!m.may_keep.empty()) policy += (policy.empty() ? "" : ", ") + ("may_keep: " + m.may_keep);
  if (!policy.empty()) text += ", tensors: {" + policy + "}";
  if (!m.bits_per_value.empty()) text += ", bits_per_value: {" + m.bits_per_value + "}";
  if (!m.total_latency.empty()) text += fmt::format(", total_latency: \"{}\"", m.total_latency);
  const auto action = [&](const char* name, int energy, const std::string& throughput) {
    return fmt::format("{{name: {}, energy: {}, throughput: {}, bits_per_action: {}}}", name,
                       energy, throughput, m.bits_per_action);
  };
  return text + fmt::format(", actions: [{}, {}]}}\n",
                            action("read", m.read_energy, m.read_throughput),
                            action("write", m.write_energy, m.write_throughput));
}

std::string compute_text(const ComputeSpec& c, const std::string& indent) {
  std::string text = fmt::format("{}- !Compute {{name: {}, leak_power: {}{}", indent, c.name,
                                 c.leak, spatial_text(c.spatial));
  if (!c.enabled.empty()) text += fmt::format(", enabled: \"{}\"", c.enabled);
  return text + fmt::format(", actions: [{{name: compute, energy: {}, throughput: {}}}]}}\n",
                            c.energy, c.throughput);
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
  text += "  einsums:\n";
  for (const EinsumSpec& einsum : spec.einsums) text += einsum_text(einsum);
  text += "arch:\n  nodes:\n";
  for (std::size_t i = 0; i < spec.memories.size(); ++i) {
    text += memory_text(spec.memories[i], "  ");
    const bool fork_here = spec.fork && i == std::min<std::size_t>(1, spec.memories.size() - 1);
    if (!fork_here) continue;
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
