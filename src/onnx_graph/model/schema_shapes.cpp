#include "onnx_graph/model/schema_shapes.h"

#include "onnx_graph/model/onnx_messages.h"
// After the messages, whose macros they need.
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <exception>

namespace sluice::onnx_graph {
namespace {

constexpr std::int64_t kNewestKnown = 17;  // of onnx 1.12
constexpr std::size_t kMostNumbers = 4096;

void put(const Constant& constant, onnx::TensorProto& tensor) {
  tensor.set_data_type(static_cast<int>(constant.type));
  for (const std::int64_t size : constant.shape) tensor.add_dims(size);
  if (constant.integers && constant.type == ElementType::kInt64)
    for (const std::int64_t number : *constant.integers) tensor.add_int64_data(number);
  else if (constant.integers)
    for (const std::int64_t number : *constant.integers)
      tensor.add_int32_data(static_cast<std::int32_t>(number));
  else if (constant.reals && constant.type == ElementType::kFloat)
    for (const double number : *constant.reals) tensor.add_float_data(static_cast<float>(number));
}

bool is_small(const Constant& constant) {
  return (constant.integers && constant.integers->size() <= kMostNumbers) ||
         (constant.reals && constant.reals->size() <= kMostNumbers);
}

void put(const Attribute& attribute, onnx::AttributeProto& to) {
  to.set_name(attribute.name);
  to.set_type(static_cast<onnx::AttributeProto::AttributeType>(attribute.kind));
  to.set_i(attribute.i);
  to.set_f(static_cast<float>(attribute.f));
  to.set_s(attribute.s);
  for (const std::int64_t value : attribute.ints) to.add_ints(value);
  for (const double value : attribute.floats) to.add_floats(static_cast<float>(value));
  for (const std::string& value : attribute.strings) to.add_strings(value);
  if (attribute.tensor && is_small(*attribute.tensor)) put(*attribute.tensor, *to.mutable_t());
}

bool is_known_kind(const Attribute& attribute) {
  return onnx::AttributeProto::AttributeType_IsValid(attribute.kind) && !attribute.graph;
}

std::optional<TensorShape> declared(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  TensorShape result;
  result.type = static_cast<ElementType>(type.tensor_type().elem_type());
  for (const auto& dimension : type.tensor_type().shape().dim()) {
    if (!dimension.has_dim_value() || dimension.dim_value() < 1) return std::nullopt;
    result.shape.push_back(dimension.dim_value());
  }
  return result;
}

}  // namespace

std::optional<std::vector<TensorShape>> shapes_by_schema(
    const Node& node, const std::vector<TensorShape>& inputs,
    const std::vector<const Constant*>& constants, std::int64_t opset) {
  const int version = static_cast<int>(std::clamp<std::int64_t>(opset, 1, kNewestKnown));
  if (!std::all_of(node.attributes.begin(), node.attributes.end(), is_known_kind))
    return std::nullopt;
  try {
    const auto* schema =
        onnx::OpSchemaRegistry::Instance()->GetSchema(node.type, version, node.domain);
    if (schema == nullptr) return std::nullopt;
    onnx::ModelProto model;
    model.set_ir_version(8);
    auto* set = model.add_opset_import();
    set->set_domain(node.domain);
    set->set_version(version);
    auto* proto = model.mutable_graph()->add_node();
    proto->set_op_type(node.type);
    proto->set_domain(node.domain);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string name = node.inputs[i].empty() ? "" : "i" + std::to_string(i);
      proto->add_input(name);
      if (name.empty()) continue;
      auto* info = model.mutable_graph()->add_input();
      info->set_name(name);
      auto* type = info->mutable_type()->mutable_tensor_type();
      type->set_elem_type(static_cast<int>(inputs[i].type));
      type->mutable_shape();
      for (const std::int64_t size : inputs[i].shape)
        type->mutable_shape()->add_dim()->set_dim_value(size);
      if (constants[i] == nullptr || !is_small(*constants[i])) continue;
      auto* tensor = model.mutable_graph()->add_initializer();
      tensor->set_name(name);
      put(*constants[i], *tensor);
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      proto->add_output("o" + std::to_string(o));
    for (const Attribute& attribute : node.attributes) put(attribute, *proto->add_attribute());
    schema->Verify(*proto);
    onnx::shape_inference::InferShapes(model);
    std::vector<std::optional<TensorShape>> found(node.outputs.size());
    for (const auto& info : model.graph().value_info())
      for (std::size_t o = 0; o < found.size(); ++o)
        if (info.name() == "o" + std::to_string(o)) found[o] = declared(info.type());
    std::vector<TensorShape> shapes;
    for (const auto& shape : found) {
      if (!shape) return std::nullopt;
      shapes.push_back(*shape);
    }
    return shapes;
  } catch (const std::exception&) {
    return std::nullopt;  // it says that the node is none of its own; who asks says what that means
  }
}

}  // namespace sluice::onnx_graph
