#include "oracle/executed.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "sluice/referee/execute.h"

namespace sluice::oracle {
namespace {

using Key = std::tuple<EinsumId, ComponentId, std::optional<TensorId>, std::string>;

std::map<Key, double> counts_of(const Cost& cost) {
  std::map<Key, double> counts;
  for (const EnergyRow& row : cost.energy)
    if (row.count && *row.count != 0)
      counts[{row.einsum, row.component, row.tensor, row.action}] += *row.count;
  return counts;
}

std::map<Key, double> counts_of(const Execution& run) {
  std::map<Key, double> counts;
  for (const CountRow& row : run.counts)
    counts[{row.einsum, row.component, row.tensor, row.action}] += static_cast<double>(row.count);
  return counts;
}

double at(const std::map<Key, double>& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

std::string text_of(const BoundProblem& problem, const Key& key) {
  const auto& [einsum, component, tensor, action] = key;
  return fmt::format("{} {} {} {}", problem.workload[einsum].name, problem.arch[component].name,
                     tensor ? problem.workload[*tensor].name : "", action);
}

bool repeats(const Workload& workload) {
  bool repeated = workload.n_instances > 1;
  for (const Einsum& einsum : workload.einsums) repeated |= einsum.n_instances > 1;
  return repeated;
}

}  // namespace

std::optional<std::string> executed_otherwise(const BoundProblem& problem, const Mapping& mapping,
                                              const Cost& cost) {
  const Execution run = execute(problem.workload, problem.arch, mapping);
  if (!run.is_legal()) return "executed: " + run.complaints.front().message;
  const std::map<Key, double> model = counts_of(cost);
  const std::map<Key, double> real = counts_of(run);
  for (const auto* side : {&model, &real})
    for (const auto& [key, count] : *side)
      if (at(model, key) != at(real, key))
        return fmt::format("executed: {}: model {} run {}", text_of(problem, key), at(model, key),
                           at(real, key));
  if (repeats(problem.workload)) return std::nullopt;
  for (const PeakOccupancy& peak : run.occupancy)
    for (const OccupancyRow& row : cost.occupancy)
      if (row.component == peak.component && row.peak_bits != peak.peak_bits)
        return fmt::format("executed: peak of {}: model {} run {}",
                           problem.arch[row.component].name, row.peak_bits, peak.peak_bits);
  return std::nullopt;
}

}  // namespace sluice::oracle
