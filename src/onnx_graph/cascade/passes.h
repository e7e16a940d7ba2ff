#pragma once

#include <set>
#include <string>

#include "onnx_graph/cascade/cascade.h"

namespace sluice::onnx_graph {

/// A rank that is read as digits (`D:128*h+e`) becomes several (`h, e`), where everybody who uses
/// the tensor can: the same values in the same order, and no windows.
void split_ranks(Cascade& cascade);

/// An Einsum that works element by element on what only one other such Einsum reads becomes a part
/// of that one. Operations stay the same; the tensor between them is not there any more. `kept`:
/// tensors that somebody asks for.
void merge_elementwise(Cascade& cascade, const std::set<std::size_t>& kept);

/// Ranks of inputs and constants take the name of the variable that walks them, if it is one.
void adopt_names(Cascade& cascade);

/// The workload as YAML. `variables`: texts of declarations, one a line.
std::string workload_text(const Cascade& cascade, const std::string& variables);

}  // namespace sluice::onnx_graph
