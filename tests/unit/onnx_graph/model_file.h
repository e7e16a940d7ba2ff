#pragma once

#include <string>
#include <vector>

#include "onnx_graph/model/onnx_messages.h"

namespace sluice::onnx_graph {

/// An ONNX model while a test builds it.
class ModelFile {
 public:
  explicit ModelFile(int opset = 17);
  void add_input(const std::string& name, const std::vector<int>& shape);
  void add_symbolic_input(const std::string& name, const std::string& symbol, int size);
  void add_weight(const std::string& name, const std::vector<int>& shape);  ///< without numbers
  onnx::NodeProto& add_node(const std::string& type, const std::vector<std::string>& inputs,
                            const std::string& output);
  /// Whole numbers along one dimension; one alone as a scalar.
  void add_integers(const std::string& name, const std::vector<int>& values,
                    bool is_scalar = false);
  void add_output(const std::string& name);
  void add_output(const std::string& name, const std::vector<int>& shape);
  onnx::ModelProto& model() { return model_; }
  std::string bytes() const { return model_.SerializeAsString(); }
  /// Writes it into the folder of temporary files; the path.
  std::string write(const std::string& name) const;

 private:
  onnx::ModelProto model_;
};

/// Bytes in a file of that name in the folder of temporary files; the path.
std::string write_bytes(const std::string& name, const std::string& bytes);

void set_integer(onnx::NodeProto& node, const std::string& attribute, int value);
void set_integers(onnx::NodeProto& node, const std::string& attribute,
                  const std::vector<int>& values);

}  // namespace sluice::onnx_graph
