#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"

namespace sluice {

/// What became of all nodes of one operator type.
struct OnnxOperator {
  enum class How { kExact, kApproximated, kFree };
  std::string type;             ///< with its domain where that is not ONNX's own
  std::int64_t count = 0;       ///< nodes
  std::int64_t einsums = 0;     ///< Einsums that they have a part in
  std::int64_t operations = 0;  ///< of these nodes alone
  How how = How::kFree;
  std::vector<std::string> nodes;    ///< names of those that are approximated
  std::vector<std::string> reasons;  ///< what is approximated, each once
};

/// `exact`, `approximated`, `free`
const char* to_string(OnnxOperator::How how);

/// A graph's tensor and the tensor of the workload that holds its values.
struct OnnxTensor {
  std::string name;  ///< as in the graph
  std::string tensor;
  bool is_constant = false;
  bool is_whole = true;             ///< the values stand in the same order, nothing else beside
  std::vector<std::int64_t> shape;  ///< of the graph's tensor
  std::vector<std::int64_t> sizes;  ///< of the ranks of the workload's
};

struct OnnxOptions {
  /// Sizes of symbolic dimensions by their names. Names that the graph does not have are ignored.
  std::map<std::string, std::string> sizes;
};

struct OnnxImport {
  std::string workload;                 ///< a spec with `workload`, as YAML
  std::vector<OnnxOperator> operators;  ///< by type
  std::vector<OnnxTensor> tensors;      ///< inputs, constants that something reads, outputs
  std::map<std::string, std::vector<double>> numbers;  ///< of constants, by tensor, row by row
  std::vector<std::string> symbolic;                   ///< names of the symbolic dimensions
  std::int64_t einsums = 0;
  std::int64_t macs = 0;               ///< multiply-adds of convolutions and matrix products
  std::int64_t parameters = 0;         ///< values of the constants that operators compute with
  std::int64_t activation_values = 0;  ///< of the inputs and of what operators make, views left out
  Diagnostics notes;                   ///< what is approximated
};

/// Whether a file name ends as those of ONNX models do.
bool is_onnx_file(const std::string& path);

/// Reads an ONNX model (IR 3 to 13, opset 7 to 26) as a cascade of Einsums (docs/onnx.md). Values
/// of weights are not needed. All mistakes are returned together, at the name of the node.
Result<OnnxImport> import_onnx(const std::string& path, const OnnxOptions& options = {});

}  // namespace sluice
