#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// A function of a cell, with its numbers.
struct CellFunction {
  Expr (*function)(const Expr&, double, double) = nullptr;
  double alpha = 0, beta = 0;
  double clip = 0;          ///< of what it reads; 0: none
  bool reads_once = false;  ///< what it reads stands in it once

  Expr clipped(Expr x) const;
  Expr of(const Expr& x) const { return function(x, alpha, beta); }
};

/// The functions of LSTM, GRU and RNN, those of the first direction first: `usual` ones of each
/// direction where the node names none. What they read is clipped where the node says so. `notes`
/// gets names that are not known.
std::vector<CellFunction> cell_functions(const NodeContext& context,
                                         const std::vector<std::string>& usual,
                                         std::int64_t directions, std::vector<std::string>& notes);

}  // namespace sluice::onnx_graph
