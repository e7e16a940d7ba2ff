#include "sluice/kapla/machine.h"

#include <algorithm>

namespace sluice::kapla {
namespace {

/// The machines of KAPLA's evaluation: energies for a 28 nm process as its hardware files give
/// them, per word of 16 bits (docs/networks.md).
const std::vector<Machine>& machines() {
  static constexpr double kDramJ = 4.0189027539954336e-10;
  static constexpr double kOperationJ = 9.984e-13;
  static constexpr double kHopJ = 9.76e-12;
  static constexpr PerMemory<double> kSmallNodeJ = {kDramJ, 2.8325450000000004e-12, 1.6416e-12,
                                                    9.408850000000001e-14};
  static constexpr PerMemory<double> kLargeNodeJ = {kDramJ, 7.483700000000001e-12, 3.2832e-12,
                                                    2.507285e-13};
  static constexpr double kManyNodesIdleJ = 1.2728688055044508e-09;
  static constexpr double kOneNodeIdleJ = 5.410220055044509e-10;
  static const std::vector<Machine> kMachines = {{"multi_node.json",
                                                  {16, 16},
                                                  {8, 8},
                                                  16384,
                                                  51.2,
                                                  8,
                                                  kSmallNodeJ,
                                                  kOperationJ,
                                                  kHopJ,
                                                  kManyNodesIdleJ},
                                                 {"multi_node_4x4.json",
                                                  {4, 4},
                                                  {8, 8},
                                                  32768,
                                                  51.2,
                                                  8,
                                                  kSmallNodeJ,
                                                  kOperationJ,
                                                  kHopJ,
                                                  kManyNodesIdleJ},
                                                 {"single_node.json",
                                                  {1, 1},
                                                  {16, 16},
                                                  131072,
                                                  12.8,
                                                  16,
                                                  kLargeNodeJ,
                                                  kOperationJ,
                                                  kHopJ,
                                                  kOneNodeIdleJ},
                                                 {"_single_node.json",
                                                  {1, 1},
                                                  {16, 16},
                                                  131072,
                                                  51.2,
                                                  8,
                                                  kLargeNodeJ,
                                                  kOperationJ,
                                                  kHopJ,
                                                  kOneNodeIdleJ}};
  return kMachines;
}

}  // namespace

std::optional<Machine> find_machine(const std::string& name) {
  const auto found = std::find_if(machines().begin(), machines().end(),
                                  [&](const Machine& machine) { return machine.name == name; });
  return found == machines().end() ? std::nullopt : std::optional<Machine>(*found);
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const Machine& machine : machines()) names.push_back(machine.name);
  return names;
}

}  // namespace sluice::kapla
