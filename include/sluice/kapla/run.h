#pragma once

#include <string>

#include "sluice/kapla/machine.h"
#include "sluice/network/network.h"

namespace sluice::kapla {

/// How the processing elements of a node share the work.
enum class ArrayMapping { kRowStationary, kSystolic };

/// Where the KAPLA artifact counts otherwise than its paper, or than the layer asks for; each named
/// after what it does (docs/networks.md, "Compatibility"). All off is Sluice's own count.
struct Compatibility {
  bool floor_dram_words = false;              ///< DRAM moves ⌊bytes/2⌋ words a cycle
  bool window_unit_time = false;              ///< a row-stationary pass takes R·S cycles
  bool one_operand_eltwise = false;           ///< of several operands, only one is read
  bool depthwise_backward_unswapped = false;  ///< input and output exchanged in depthwise gradients
  bool searched_pool_unswapped = false;       ///< the same in pool gradients that the search found
  bool searched_local_weights = false;        ///< searched pools on systolic arrays read weights
  bool regf_write_on_o = false;  ///< gradients of weights read and write O in registers
};
/// What the artifact does; `window_unit_time` in runs of its own solver as published (`KAPLA`).
Compatibility kapla_compatibility(const std::string& solver);

/// What all schemes of a run have in common.
struct Run {
  std::string name;
  std::string solver;  ///< `KAPLA`, `KAPLA-fix`, `exhaustive-U`, …
  NeuralNetwork network;
  std::int64_t batch = 1;
  Machine machine;
  ArrayMapping mapping = ArrayMapping::kRowStationary;
  Compatibility compatibility;
};

/// Whether its schemes are of nn_dataflow's exhaustive search, which has no directives.
bool is_exhaustive(const Run& run);

}  // namespace sluice::kapla
