#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

/// A grid of nodes, each with a global buffer and an array of processing elements with registers.
struct Machine {
  std::string name;                      ///< of its file: `multi_node.json`
  Extent grid;                           ///< nodes
  Extent array;                          ///< processing elements of a node
  double buffer_words = 0;               ///< of a node's global buffer
  double dram_bytes_per_cycle = 0;       ///< of all ports together
  std::int64_t bus_words_per_cycle = 1;  ///< of the array's bus, for each tensor
  PerMemory<double> access_j{};          ///< energy of a word
  double operation_j = 0;
  double hop_j = 0;   ///< a word over one link between nodes
  double idle_j = 0;  ///< of the whole chip, each cycle
};

/// The machine that a run names; nothing where there is none of that name.
std::optional<Machine> find_machine(const std::string& name);
std::vector<std::string> machine_names();

}  // namespace sluice::kapla
