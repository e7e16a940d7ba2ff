#pragma once

#include <map>
#include <optional>
#include <vector>

#include "onnx_graph/cascade/cascade.h"

namespace sluice::onnx_graph {

/// Values of tensors, in row-major order.
using TensorValues = std::map<std::size_t, std::vector<double>>;

/// The given values and those of all that the Einsums make. Nothing where one is missing that they
/// read, where there are too many, or where steps wait for each other.
std::optional<TensorValues> evaluate(const Cascade& cascade, TensorValues given);
/// What is read under a view.
std::vector<double> values_under(const Cascade& cascade, const View& view,
                                 const TensorValues& values);

}  // namespace sluice::onnx_graph
