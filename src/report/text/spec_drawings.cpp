#include "spec_drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sluice/support/human_units.h"
#include "support/printable_text.h"
#include "text_bars.h"

namespace sluice::cli {
namespace {

/// Lines of columns that are as wide as their widest cell; the last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], text_columns(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i + 1 < row.size() ? pad_right(row[i], widths[i] + 2) : row[i];
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string operations_text(const Einsum& einsum) {
  if (einsum.is_copy_operation) return "copy";
  std::vector<std::string> parts;
  for (const OperationCount& count : operations_per_point(einsum.expression))
    parts.push_back(count.per_point == 1
                        ? std::string(operation_name(count.kind))
                        : fmt::format("{} {}", count.per_point, operation_name(count.kind)));
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::vector<std::string> einsum_row(const Workload& workload, const Einsum& einsum, bool ascii) {
  std::vector<std::string> reads;
  for (const TensorAccess& access : einsum.accesses)
    if (!access.is_output) reads.push_back(workload[access.tensor].name);
  std::vector<std::string> variables;
  double points = static_cast<double>(einsum.n_instances);
  for (const VariableRange& range : einsum.iteration_space) {
    variables.push_back(fmt::format("{} {}", workload[range.variable].name, range.size));
    points *= static_cast<double>(range.size);
  }
  const std::string reading = fmt::format("{} {} {}", fmt::join(reads, ", "), ascii ? "->" : "→",
                                          workload[einsum.output().tensor].name);
  return {einsum.name, human_count(points) + " points", operations_text(einsum), reading,
          fmt::format("[{}]", fmt::join(variables, ", "))};
}

const char* role_of(const Workload& workload, const TensorRoles& roles, TensorId tensor) {
  if (workload[tensor].persistent) return "persistent";
  if (roles.is_intermediate(tensor)) return "intermediate";
  return roles.is_made(tensor) ? "output" : "input";
}

/// Bits of one value, where all Einsums agree.
double widest_bits(const Workload& workload, TensorId tensor) {
  double bits = 0;
  for (const Einsum& einsum : workload.einsums)
    for (const TensorAccess& access : einsum.accesses)
      if (access.tensor == tensor) bits = std::max(bits, access.bits_per_value);
  return bits;
}

std::vector<std::string> tensor_row(const Workload& workload, const TensorRoles& roles,
                                    TensorId tensor) {
  std::vector<std::string> ranks;
  for (const RankId rank : workload[tensor].ranks)
    ranks.push_back(fmt::format("{} {}", workload[rank].name, workload[rank].size));
  const double bits = widest_bits(workload, tensor);
  return {workload[tensor].name, role_of(workload, roles, tensor),
          human_size(bits * static_cast<double>(tensor_volume(workload, tensor))),
          fmt::format("{:g} bit", bits), fmt::format("[{}]", fmt::join(ranks, ", "))};
}

struct KindText {
  std::string operator()(const Memory& memory) const {
    const auto bits = memory.size_bits.constant();
    return "memory, " + (bits ? (std::isfinite(*bits) ? human_size(*bits) : std::string("no limit"))
                              : std::string("size by Einsum"));
  }
  std::string operator()(const Toll&) const { return "toll"; }
  std::string operator()(const Container&) const { return "container"; }
  std::string operator()(const Network&) const { return "network"; }
  std::string operator()(const Compute&) const { return "compute"; }
};

std::string spatial_text(const Component& component, bool ascii) {
  std::vector<std::string> parts;
  for (const SpatialDimension& dimension : component.spatial)
    parts.push_back(fmt::format("{}{} {}", ascii ? "x" : "×", dimension.fanout, dimension.name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What an action costs, without its name.
std::string price_text(const Action& action, bool moves_bits, bool ascii) {
  std::string text = human_si(action.energy_j, "J", ascii);
  if (moves_bits)
    text += action.bits_per_action == 1 ? std::string("/bit")
                                        : fmt::format(" per {:g} bit", action.bits_per_action);
  if (!std::isfinite(action.throughput)) return text;
  const double bytes = action.throughput * action.bits_per_action / 8;
  return text + " " +
         (moves_bits ? human_si(bytes, "B/s", ascii) : human_si(action.throughput, "ops/s", ascii));
}

/// Actions of one price together: `read 7 pJ; add, sub, max 0.4 pJ`.
std::string actions_text(const Component& component, bool ascii) {
  std::vector<std::pair<std::string, std::string>> prices;  // price, names
  const bool moves_bits = !std::holds_alternative<Compute>(component.kind);
  for (const Action& action : component.actions) {
    const std::string price = price_text(action, moves_bits, ascii);
    if (!prices.empty() && prices.back().first == price)
      prices.back().second += ", " + action.name;
    else
      prices.emplace_back(price, action.name);
  }
  std::string text;
  for (const auto& [price, names] : prices)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", names, price);
  return text;
}

std::vector<std::string> component_row(const Component& component, const std::string& prefix,
                                       bool ascii) {
  return {prefix + component.name, std::visit(KindText{}, component.kind),
          spatial_text(component, ascii), actions_text(component, ascii)};
}

std::size_t depth_of(const Arch& arch, std::optional<ForkId> fork) {
  std::size_t depth = 0;
  for (; fork; fork = arch.forks[fork->index()].parent) ++depth;
  return depth;
}

}  // namespace

std::string workload_drawing(const Workload& workload, bool ascii) {
  const TensorRoles roles = tensor_roles(workload);
  std::vector<std::vector<std::string>> einsums;
  for (const Einsum& einsum : workload.einsums)
    einsums.push_back(einsum_row(workload, einsum, ascii));
  std::vector<std::vector<std::string>> tensors;
  for (std::size_t i = 0; i < workload.tensors.size(); ++i)
    tensors.push_back(tensor_row(workload, roles, TensorId(i)));
  std::string title = fmt::format("Workload {}: {} Einsum{}, {} tensors",
                                  printable_text(workload.name), workload.einsums.size(),
                                  workload.einsums.size() == 1 ? "" : "s", workload.tensors.size());
  if (workload.n_instances != 1) title += fmt::format(", run {} times", workload.n_instances);
  return title + "\n\nEinsums, in the order they run\n" + table(einsums, "  ") + "\nTensors\n" +
         table(tensors, "  ");
}

std::string arch_drawing(const Arch& arch, bool ascii) {
  std::vector<std::vector<std::string>> rows;
  std::optional<ForkId> previous;
  for (const Component& component : arch.components) {
    const std::size_t depth = depth_of(arch, component.fork);
    std::string prefix;
    for (std::size_t i = 1; i < depth; ++i) prefix += ascii ? "|  " : "│  ";
    if (depth > 0)
      prefix += component.fork == previous ? (ascii ? "|  " : "│  ") : (ascii ? "|- " : "├─ ");
    previous = component.fork;
    rows.push_back(component_row(component, prefix, ascii));
  }
  std::string title = "Architecture " + printable_text(arch.name);
  if (arch.clock_hz) title += ", clock " + human_si(*arch.clock_hz, "Hz", ascii);
  return title + "\n\n" + table(rows, "  ");
}

}  // namespace sluice::cli
