#pragma once

#include <string>

#include "sluice/network/network.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// The network as a workload spec (YAML), one Einsum a layer; `file` is the table that it is from.
/// Sizes of batch and values are the variables BATCH (1) and BITS (16). Padding is at both sides,
/// the odd row first. Layers that are read side by side make parts of one tensor. Gradients read
/// the weights and values of the layer whose name theirs begins with (`fc1_back`, `fc1_back_w`).
/// Refused, by name of the layer: gradients without such a layer, or of operands; what reads
/// gradients of weights as values; layers that are read side by side with others in two ways.
Result<std::string> to_workload_yaml(const NeuralNetwork& network, const std::string& file);

}  // namespace sluice
