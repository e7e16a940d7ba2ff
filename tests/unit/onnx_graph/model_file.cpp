#include "unit/onnx_graph/model_file.h"

#include <filesystem>
#include <fstream>

namespace sluice::onnx_graph {
namespace {

void put_shape(onnx::ValueInfoProto& info, const std::vector<int>& shape) {
  auto* type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape();
  for (const int size : shape) type->mutable_shape()->add_dim()->set_dim_value(size);
}

}  // namespace

ModelFile::ModelFile(int opset) {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(opset);
}

void ModelFile::add_input(const std::string& name, const std::vector<int>& shape) {
  auto* info = model_.mutable_graph()->add_input();
  info->set_name(name);
  put_shape(*info, shape);
}

void ModelFile::add_symbolic_input(const std::string& name, const std::string& symbol, int size) {
  add_input(name, {1, size});
  model_.mutable_graph()
      ->mutable_input(model_.graph().input_size() - 1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param(symbol);
}

void ModelFile::add_weight(const std::string& name, const std::vector<int>& shape) {
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int size : shape) tensor->add_dims(size);
}

onnx::NodeProto& ModelFile::add_node(const std::string& type,
                                     const std::vector<std::string>& inputs,
                                     const std::string& output) {
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type(type);
  node->set_name("n_" + output);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

void ModelFile::add_output(const std::string& name) {
  model_.mutable_graph()->add_output()->set_name(name);
}

void ModelFile::add_output(const std::string& name, const std::vector<int>& shape) {
  auto* info = model_.mutable_graph()->add_output();
  info->set_name(name);
  put_shape(*info, shape);
}

void ModelFile::add_integers(const std::string& name, const std::vector<int>& values,
                             bool is_scalar) {
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  if (!is_scalar) tensor->add_dims(static_cast<int>(values.size()));
  for (const int value : values) tensor->add_int64_data(value);
}

std::string ModelFile::write(const std::string& name) const { return write_bytes(name, bytes()); }

std::string write_bytes(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::temp_directory_path() / "sluice_onnx_graph_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

void set_integer(onnx::NodeProto& node, const std::string& attribute, int value) {
  auto* added = node.add_attribute();
  added->set_name(attribute);
  added->set_type(onnx::AttributeProto::INT);
  added->set_i(value);
}

void set_integers(onnx::NodeProto& node, const std::string& attribute,
                  const std::vector<int>& values) {
  auto* added = node.add_attribute();
  added->set_name(attribute);
  added->set_type(onnx::AttributeProto::INTS);
  for (const int value : values) added->add_ints(value);
}

}  // namespace sluice::onnx_graph
