#pragma once

#include <string>

#include "sluice/network/network.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// The network as a workload spec (YAML), one Einsum a layer; `file` is the table that it is from.
/// Sizes of batch and values are the variables BATCH (1) and BITS (16). Padding is at both sides,
/// the odd row first. Refused, by name of the layer: layers that read several others side by side
/// (concatenation: a tensor has one maker), gradients (a table does not say which values they read
/// again), windows over neighbouring channels.
Result<std::string> to_workload_yaml(const NeuralNetwork& network, const std::string& file);

}  // namespace sluice
