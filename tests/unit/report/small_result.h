#pragma once

#include <string>

#include "report/document/result_document.h"

namespace sluice::cli::testing {

/// A made-up result: one Einsum `Mul` that reads A and writes Z, `DRAM` without a limit, `Buffer`
/// and `MAC`. Energies: 2 + 1 + 0.5 + 0.25 (leak) = 3.75 J; times: DRAM 0.5 s, MAC 0.125 s.
inline RunResult small_result() {
  BoundProblem problem;
  problem.workload.name = "w";
  problem.workload.rank_variables = {{"m"}};
  problem.workload.ranks = {{"M", 8}};
  Tensor tensor;
  tensor.ranks = {RankId(0)};
  for (const char* name : {"A", "Z"}) {
    tensor.name = name;
    problem.workload.tensors.push_back(tensor);
  }
  const AffineExpression index{{{RankVariableId(0), 1}}, 0};
  Einsum einsum;
  einsum.name = "Mul";
  einsum.accesses = {{TensorId(0), {index}, false, 8}, {TensorId(1), {index}, true, 8}};
  einsum.iteration_space = {{RankVariableId(0), 0, 8}};
  problem.workload.einsums.push_back(einsum);
  problem.arch.name = "a";
  for (const char* name : {"DRAM", "Buffer", "MAC"}) {
    Component component;
    component.name = name;
    if (component.name == "MAC") component.kind = Compute{};
    problem.arch.components.push_back(component);
  }
  BoundEinsum bound;
  bound.tensors = {TensorId(0), TensorId(1)};
  bound.components.resize(3);
  for (BoundComponent& component : bound.components) component.bits_per_value = {8, 8};
  problem.einsums.push_back(bound);

  Cost cost;
  const auto row = [&](std::size_t component, std::optional<TensorId> tensor_id, const char* action,
                       std::optional<double> count, std::optional<double> bits, double energy) {
    EnergyRow entry;
    entry.component = ComponentId(component);
    entry.tensor = tensor_id;
    entry.action = action;
    entry.count = count;
    entry.bits = bits;
    entry.actions = bits.value_or(count.value_or(1));
    entry.energy_j = energy;
    cost.energy.push_back(entry);
    cost.energy_j += energy;
  };
  row(0, TensorId(0), "read", 8, 64, 2);
  row(0, TensorId(1), "write", 8, 64, 1);
  row(2, std::nullopt, "compute", 8, std::nullopt, 0.5);
  row(0, std::nullopt, "leak", std::nullopt, std::nullopt, 0.25);
  cost.leak_energy_j = 0.25;
  cost.latency = {{EinsumId(0), ComponentId(0), 0.5}, {EinsumId(0), ComponentId(2), 0.125}};
  cost.latency_s = 0.5;
  cost.occupancy = {{ComponentId(0), 128, kUnbounded}, {ComponentId(1), 16, 64}};
  cost.bounds = {0.125, 0.25, 3};
  cost.fusion_groups = {{EinsumId(0)}};

  StorageNode in_dram;
  in_dram.tensors = {TensorId(0), TensorId(1)};
  in_dram.component = ComponentId(0);
  Mapping mapping;
  mapping.nodes = {Node{in_dram}, Node{TemporalNode{{RankVariableId(0)}, 1, {}}},
                   Node{ComputeNode{EinsumId(0), ComponentId(2)}}};

  RunResult result;
  result.command = "map";
  result.problem = problem;
  result.options = MapperOptions{};
  result.outcomes.push_back({mapping, cost});
  result.guarantee.emplace();
  result.guarantee->kind = GuaranteeKind::kOptimal;
  result.guarantee->space = "no recompute, perfect factors";
  result.search = SearchStatistics{0.8, 2, 1e15, 2e6, 5000, "", 1};
  return result;
}

}  // namespace sluice::cli::testing
