#pragma once

#include <string>

#include "sluice/network/network.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// Reads a network from a table `layer,type,C,K,HO,WO,R,S,stride,prevs` (docs/networks.md): one
/// layer a row, after all whose outputs it reads. Mistakes carry their line.
Result<NeuralNetwork> read_network_table(const std::string& text, const std::string& file);

/// The shipped network of that name (`library/networks/NAME.csv`). An unknown name is a mistake
/// with the nearest name as hint.
Result<NeuralNetwork> load_network(const std::string& name);

/// Names of all shipped networks, in order.
std::vector<std::string> network_names();

}  // namespace sluice
