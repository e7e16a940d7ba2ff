#include "oracle/single_einsum.h"

#include <algorithm>
#include <map>

#include "sluice/model/evaluate.h"

namespace sluice::oracle {
namespace {

constexpr std::size_t kMaxReports = 5;

/// Share of a fanout dimension that a nest's spatial loops use.
double usage(const Pmapping& nest, ComponentId component, std::uint32_t dimension,
             std::int64_t fanout) {
  double used = 1;
  for (const NestNode& node : nest.nodes) {
    const NestLoop* loop = std::get_if<NestLoop>(&node);
    if (loop && loop->spatial && loop->component == component && loop->dimension == dimension)
      used *= static_cast<double>(loop->trips);
  }
  return used / static_cast<double>(fanout);
}

/// Indices (into `nests`) of one template that the filter of one dimension leaves.
std::vector<std::size_t> filter(const std::vector<Pmapping>& nests,
                                std::vector<std::size_t> members, ComponentId component,
                                std::uint32_t dimension, const BoundSpatial& spatial) {
  double bar = 0;
  for (std::size_t i : members)
    bar = std::max(bar, usage(nests[i], component, dimension, spatial.fanout));
  bar = std::min(bar, spatial.min_usage);
  std::erase_if(members, [&](std::size_t i) {
    return usage(nests[i], component, dimension, spatial.fanout) < bar;
  });
  return members;
}

}  // namespace

BoundProblem single_einsum_problem(const BoundProblem& problem, EinsumId einsum) {
  BoundProblem single = problem;
  single.workload.einsums = {problem.workload[einsum]};
  single.einsums = {problem[einsum]};
  single.einsums[0].einsum = EinsumId(0);
  single.roles = tensor_roles(single.workload);
  return single;
}

std::vector<Pmapping> price_nests(const BoundProblem& problem, EinsumId einsum,
                                  std::vector<Pmapping> nests, std::vector<std::string>& refusals) {
  const BoundProblem single = single_einsum_problem(problem, einsum);
  std::vector<Pmapping> fitting;
  for (Pmapping& nest : nests) {
    Mapping mapping;
    nest.einsum = EinsumId(0);
    mapping.nodes = to_nodes(nest);
    nest.einsum = einsum;
    const auto cost = evaluate(single, mapping);
    if (!cost) {
      for (const Violation& violation : cost.error())
        // A nest may throw away what a later step of a recurrence reads: evaluate's to refuse.
        if (violation.kind != ViolationKind::kCapacity &&
            violation.kind != ViolationKind::kDependency && refusals.size() < kMaxReports)
          refusals.push_back(violation.message + "\n" +
                             to_yaml(mapping, single.workload, single.arch));
      continue;
    }
    nest.energy_j = cost->energy_j;
    nest.latency_s = cost->latency_s;
    for (const OccupancyRow& row : cost->occupancy) nest.peak_bits.push_back(row.peak_bits);
    fitting.push_back(std::move(nest));
  }
  return fitting;
}

std::vector<Pmapping> most_used(const BoundProblem& problem, EinsumId einsum,
                                std::vector<Pmapping> nests) {
  if (problem.workload[einsum].is_copy_operation) return nests;
  std::map<int, std::vector<std::size_t>> templates;
  for (std::size_t i = 0; i < nests.size(); ++i)
    for (int t : nests[i].templates) templates[t].push_back(i);
  std::vector<bool> kept(nests.size(), false);
  for (auto& [id, members] : templates) {
    for (std::size_t c = 0; c < problem[einsum].components.size(); ++c) {  // outer fanouts first
      const auto& dimensions = problem[einsum].components[c].spatial;
      for (std::uint32_t d = 0; d < dimensions.size(); ++d)
        members = filter(nests, std::move(members), ComponentId(c), d, dimensions[d]);
    }
    for (std::size_t i : members) kept[i] = true;
  }
  std::vector<Pmapping> result;
  for (std::size_t i = 0; i < nests.size(); ++i)
    if (kept[i]) result.push_back(std::move(nests[i]));
  return result;
}

}  // namespace sluice::oracle
