#pragma once

#include <cstdint>
#include <string>

#include "onnx_graph/lower/lowering.h"
#include "onnx_graph/sequences/cell_functions.h"

namespace sluice::onnx_graph {

/// Places of the inputs of LSTM, GRU and RNN.
struct RecurrentInput {
  enum : std::size_t {
    kWeights = 1,
    kRecurrentWeights,
    kBiases,
    kSequenceLengths,
    kInitialState,
    kInitialCell,
    kPeepholes
  };
};

/// What a direction makes in all steps; `cells` of LSTM only.
struct RecurrentDirection {
  View states, cells;
};

/// Writes one direction of LSTM (4 gates), GRU (3) or RNN (1): the products of all steps with
/// inputs and states, and the cell. Each step reads a state of its own size that stands for the
/// last step's, so that products and functions are counted exactly, but steps do not wait for each
/// other. `input`: steps first. `functions`: those of the direction.
RecurrentDirection write_direction(NodeContext& context, const View& input, std::int64_t which,
                                   std::int64_t gates, const std::string& name,
                                   const CellFunction* functions);

}  // namespace sluice::onnx_graph
