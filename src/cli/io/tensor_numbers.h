#pragma once

#include <string>

#include "sluice/referee/execute.h"

namespace sluice::cli {

/// `{"A": [[1, 2], [3, 4]], …}`: every tensor's numbers, one level of lists for each of its ranks.
/// They read back to the last bit; what is not finite is a text ("inf", "-inf", "nan").
std::string tensor_numbers_text(const Workload& workload, const TensorValues& values);

/// Numbers of inputs from a file of that form. Throws Failure: a file that cannot be read, a name
/// that is no input of the workload, lists of another shape than the tensor.
TensorValues read_input_numbers(const std::string& file, const Workload& workload);

/// The same from a text; `origin` stands for the file in what is wrong with it.
TensorValues input_numbers(const std::string& text, const std::string& origin,
                           const Workload& workload);

}  // namespace sluice::cli
