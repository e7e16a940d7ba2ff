#pragma once

#include <string>

#include "sluice/network/network.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// What a table of layers (`file`) has that no workload can say, layer by layer.
Diagnostics layers_without_einsum(const NeuralNetwork& network, const std::string& file);

}  // namespace sluice
