#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "sluice/frontend/load.h"
#include "sluice/model/evaluate.h"
#include "triples/triple.h"

namespace sluice::settled {

/// The architecture of the cases that name none, and the head of the mapping that follows.
inline const char* const kArch = R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: Chip, spatial: [{name: c, fanout: 2}]}
  - !Memory {name: GB, size: inf, spatial: [{name: g, fanout: 2}], actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
)";

/// A mapping on which model and executor must agree, and what the model says of it.
struct Settled {
  triples::LoadedTriple loaded;
  bool legal = false;
  Cost cost;

  Settled(const std::string& workload, const std::string& nodes, const std::string& arch = kArch)
      : loaded(load(workload + arch + nodes)) {
    EXPECT_EQ(triples::differences(loaded), std::vector<std::string>{});
    auto evaluated = evaluate(loaded.problem, loaded.mapping);
    legal = evaluated.has_value();
    if (legal) cost = std::move(*evaluated);
  }

  static triples::LoadedTriple load(const std::string& text) {
    auto specs = load_specs_from_text({{"case.yaml", text}}, {});
    if (!specs) throw std::runtime_error(to_string(specs.error()[0]));
    auto problem = bind(*specs->workload, *specs->arch);
    if (!problem) throw std::runtime_error(to_string(problem.error()[0]));
    return {std::move(*problem), std::move(specs->mappings.at(0))};
  }

  double peak_bits(const std::string& memory) const {
    for (const OccupancyRow& row : cost.occupancy)
      if (loaded.problem.arch[row.component].name == memory) return row.peak_bits;
    return -1;
  }
  double count(const std::string& component, const std::string& tensor,
               const std::string& action) const {
    double sum = 0;
    for (const EnergyRow& row : cost.energy)
      if (loaded.problem.arch[row.component].name == component && row.action == action &&
          row.tensor && loaded.problem.workload[*row.tensor].name == tensor)
        sum += row.count.value_or(0);
    return sum;
  }
};

/// One width, Einsums as a list of quoted texts.
inline std::string workload_of(const std::string& einsums, const std::string& sizes,
                               const std::string& bounds = "") {
  return "workload:\n  rank_sizes: {" + sizes + "}\n  bits_per_value: {All: 8}\n" +
         (bounds.empty() ? "" : "  iteration_space_shape: [" + bounds + "]\n") + "  einsums: [" +
         einsums + "]\n";
}

}  // namespace sluice::settled
