#pragma once

#include <string>
#include <vector>

#include "sluice/network/network.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// A workload spec that says a table of layers.
struct NetworkWorkload {
  std::string yaml;
  std::vector<int> table_lines;  ///< of each line: that of its layer in the table; 0: of none
};

/// The network as a workload spec (YAML), one Einsum a layer; `file` is the table that it is from.
/// Sizes of batch and values are the variables BATCH (1) and BITS (16). Padding is at both sides,
/// the odd row first. Layers that are read side by side make parts of one tensor; where somebody
/// reads one of them before all are made, or they are in several such tensors, they are copied
/// there by an Einsum of its own. Gradients read the weights and values of the layer whose name
/// theirs begins with (`fc1_back`, `fc1_back_w`). Refused, by name of the layer: gradients without
/// such a layer, or of operands; what reads gradients of weights as values; a layer that is read
/// twice, side by side with itself; sums of operands with different channels; names that are none
/// of Einsums.
Result<NetworkWorkload> to_workload_yaml(const NeuralNetwork& network, const std::string& file);

}  // namespace sluice
