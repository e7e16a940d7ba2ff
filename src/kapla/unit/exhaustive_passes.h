#pragma once

#include <vector>

#include "find_pass.h"

namespace sluice::kapla {

/// A pass that nn_dataflow's exhaustive search tries: how many steps the loops then have, and what
/// it holds.
struct TriedPass {
  PerLoop<std::int64_t> steps{};
  PerOperand<double> buffer_words{};
  UnitPass pass;
};

/// The part of a layer that one node computes: gradients as the forward layer with exchanged
/// channels.
struct NodeLayer {
  LayerShape shape;
  std::int64_t batch = 1;
  double occupancy = 1;  ///< operations that there are / that the nodes do, with padding
};
NodeLayer node_layer(const PassQuestion& question);

/// A pass of one copy, before copies are made.
struct SinglePass {
  PerMemory<PerOperand<double>> access{};
  PerOperand<double> buffer_words{};
  PerOperand<bool> reusable{};
  double operations = 0;
  std::int64_t cycles = 0;
};

/// How copies fill the array: steps that are left, how full these are, copies of each tensor.
struct Replication {
  PerLoop<std::int64_t> steps{};
  PerLoop<double> full{1, 1, 1};
  std::int64_t copies = 1;
  PerOperand<std::int64_t> copies_of{};
};

/// `bus_for_each_copy`: every copy is sent over the array's bus, not every tensor's.
TriedPass replicated(const NodeLayer& layer, const SinglePass& single,
                     const Replication& replication, bool bus_for_each_copy);

std::vector<TriedPass> exhaustive_row_stationary(const PassQuestion& question,
                                                 const NodeLayer& layer);
std::vector<TriedPass> exhaustive_systolic(const PassQuestion& question, const NodeLayer& layer);

/// The pass that holds as much as the scheme says.
PassAnswer exhaustive_pass(const PassQuestion& question);

}  // namespace sluice::kapla
