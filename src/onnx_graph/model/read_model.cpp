#include "onnx_graph/model/read_model.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "onnx_graph/model/external_data.h"
#include "onnx_graph/model/onnx_messages.h"
#include "onnx_graph/model/tensor_numbers.h"

namespace sluice::onnx_graph {
namespace {

constexpr int kMostDimensions = 32;
constexpr int kDeepestGraphs = 16;
constexpr int kOldestIr = 3;
constexpr std::int64_t kAlwaysKept = 4096;

struct Unreadable {
  std::string message, hint;
};

class ModelReader {
 public:
  explicit ModelReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Model read(const onnx::ModelProto& model) {
    if (!model.has_graph())
      throw Unreadable{"the file holds no ONNX graph", "is it an ONNX model, and whole?"};
    if (model.has_ir_version() && model.ir_version() < kOldestIr)
      throw Unreadable{fmt::format("IR version {} is older than {}", model.ir_version(), kOldestIr),
                       "convert the model with onnx.version_converter"};
    Model result;
    for (const auto& set : model.opset_import()) result.opsets[set.domain()] = set.version();
    result.graph = graph(model.graph(), 0);
    for (const auto& function : model.functions()) result.functions.push_back(read(function));
    return result;
  }

 private:
  Function read(const onnx::FunctionProto& from) {
    Function function;
    function.name = from.name();
    function.domain = from.domain();
    function.inputs.assign(from.input().begin(), from.input().end());
    function.outputs.assign(from.output().begin(), from.output().end());
    // Defaults came with IR 9, after the library's messages: a field that it does not know.
    constexpr int kAttributeProto = 11;
    const auto& unknown = from.GetReflection()->GetUnknownFields(from);
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& field = unknown.field(i);
      onnx::AttributeProto attribute;
      if (field.number() == kAttributeProto &&
          field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
          attribute.ParseFromString(field.length_delimited()))
        function.defaults.push_back(read(attribute, 1));
    }
    for (const auto& node : from.node()) function.nodes.push_back(read(node, 1));
    return function;
  }

  Graph graph(const onnx::GraphProto& from, int depth) {
    if (depth > kDeepestGraphs) throw Unreadable{"graphs are nested too deeply", ""};
    Graph graph;
    graph.name = from.name();
    for (const auto& tensor : from.initializer()) {
      if (graph.constants.count(tensor.name()) > 0)
        throw Unreadable{fmt::format("two initializers are called '{}'", tensor.name()), ""};
      graph.constants[tensor.name()] = constant(tensor);
    }
    for (const auto& sparse : from.sparse_initializer())
      graph.constants[sparse.values().name()] = dense_shape(sparse);
    for (const auto& info : from.input()) graph.inputs.push_back(read(info));
    for (const auto& info : from.output()) graph.outputs.push_back(read(info));
    for (const auto& info : from.value_info()) graph.values[info.name()] = read(info);
    for (const auto& node : from.node()) graph.nodes.push_back(read(node, depth));
    return graph;
  }

  Node read(const onnx::NodeProto& from, int depth) {
    if (++n_nodes_ > kMostNodes)
      throw Unreadable{fmt::format("the graph has more than {} nodes", kMostNodes), ""};
    Node node;
    node.name = from.name();
    node.type = from.op_type();
    node.domain = from.domain();
    node.inputs.assign(from.input().begin(), from.input().end());
    node.outputs.assign(from.output().begin(), from.output().end());
    for (const auto& attribute : from.attribute())
      node.attributes.push_back(read(attribute, depth));
    return node;
  }

  Attribute read(const onnx::AttributeProto& from, int depth) {
    Attribute attribute;
    attribute.name = from.name();
    attribute.kind = from.type();
    attribute.i = from.i();
    attribute.f = static_cast<double>(from.f());
    attribute.s = from.s();
    attribute.ints.assign(from.ints().begin(), from.ints().end());
    attribute.floats.assign(from.floats().begin(), from.floats().end());
    attribute.strings.assign(from.strings().begin(), from.strings().end());
    attribute.refers_to = from.ref_attr_name();
    if (from.has_t()) attribute.tensor = std::make_shared<Constant>(constant(from.t()));
    if (from.has_sparse_tensor())
      attribute.tensor = std::make_shared<Constant>(dense_shape(from.sparse_tensor()));
    if (from.has_g()) attribute.graph = std::make_shared<Graph>(graph(from.g(), depth + 1));
    return attribute;
  }

  static ValueInfo read(const onnx::ValueInfoProto& from) {
    ValueInfo info;
    info.name = from.name();
    if (!from.has_type() || !from.type().has_tensor_type()) return info;
    const auto& type = from.type().tensor_type();
    info.type = static_cast<ElementType>(type.elem_type());
    if (!type.has_shape()) return info;
    if (type.shape().dim_size() > kMostDimensions)
      throw Unreadable{
          fmt::format("'{}' has more than {} dimensions", from.name(), kMostDimensions), ""};
    info.shape.emplace();
    for (const auto& dimension : type.shape().dim()) {
      Dimension& size = info.shape->emplace_back();
      if (dimension.has_dim_value() && dimension.dim_value() >= 0)
        size.size = dimension.dim_value();
      if (dimension.has_dim_param()) size.symbol = dimension.dim_param();
    }
    return info;
  }

  static Shape shape_of(const std::string& name,
                        const google::protobuf::RepeatedField<std::int64_t>& dims) {
    if (dims.size() > kMostDimensions)
      throw Unreadable{fmt::format("'{}' has more than {} dimensions", name, kMostDimensions), ""};
    Shape shape(dims.begin(), dims.end());
    for (const std::int64_t size : shape)
      if (size < 0)
        throw Unreadable{fmt::format("'{}' has a dimension of size {}", name, size), ""};
    return shape;
  }

  /// Bytes that the shape asks for, where they can be counted.
  static std::optional<std::int64_t> bytes_of(const Constant& tensor) {
    if (!is_of_numbers(tensor.type)) return std::nullopt;
    std::int64_t values = 1;
    for (const std::int64_t size : tensor.shape) {
      if (size != 0 &&
          values > std::numeric_limits<std::int32_t>::max() * std::int64_t{1024} / size)
        return std::nullopt;
      values *= size;
    }
    return (values * bits_of(tensor.type) + 7) / 8;
  }

  /// Values may be left out, but those that are there must be as many as the shape says.
  static void check_length(const onnx::TensorProto& from, const Constant& tensor,
                           std::int64_t length) {
    const auto wanted = bytes_of(tensor);
    if (length == 0 || !is_of_numbers(tensor.type) || wanted == length) return;
    throw Unreadable{fmt::format("the tensor '{}' of shape [{}] has {} bytes of values{}",
                                 from.name(), fmt::join(tensor.shape, ", "), length,
                                 wanted ? fmt::format(", not {}", *wanted) : ""),
                     "the file is damaged, or was cut off"};
  }

  /// Whether the numbers of a tensor are kept. Those of small ones, which shapes follow from,
  /// always are.
  std::optional<std::int64_t> kept_numbers(const Constant& tensor) const {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) {
      if (size != 0 && count > kMostNumbersOfATensor / size) return std::nullopt;
      count *= size;
    }
    if (count > kAlwaysKept && n_numbers_ + count > kMostNumbers) return std::nullopt;
    return count;
  }

  void keep_numbers(const onnx::TensorProto& from, std::int64_t count, Constant& constant) {
    read_numbers(from, count, constant);
    if (constant.has_numbers()) n_numbers_ += count;
  }

  Constant constant(const onnx::TensorProto& from) {
    Constant result;
    result.type = static_cast<ElementType>(from.data_type());
    result.shape = shape_of(from.name(), from.dims());
    const auto count = kept_numbers(result);
    if (from.data_location() == onnx::TensorProto::EXTERNAL) {
      read_from_beside(from, count, result);
      return result;
    }
    check_length(from, result, static_cast<std::int64_t>(from.raw_data().size()));
    if (count) keep_numbers(from, *count, result);
    return result;
  }

  /// Values in a file beside the model, which need not be there.
  void read_from_beside(const onnx::TensorProto& from, std::optional<std::int64_t> count,
                        Constant& constant) {
    try {
      const ExternalData data = external_data(from);
      const auto wanted = bytes_of(constant);
      if (data.length) check_length(from, constant, *data.length);
      if (!wanted) return;
      if (!count) {
        check_external(data, *wanted, folder_);
        return;
      }
      const auto bytes = read_external(data, *wanted, folder_);
      if (!bytes) return;
      onnx::TensorProto here;
      here.set_raw_data(*bytes);
      keep_numbers(here, *count, constant);
    } catch (const std::invalid_argument& mistake) {
      throw Unreadable{fmt::format("the tensor '{}': {}", from.name(), mistake.what()), ""};
    } catch (const std::length_error& mistake) {
      throw Unreadable{fmt::format("the tensor '{}' has {}", from.name(), mistake.what()),
                       "that file is damaged, or was cut off"};
    }
  }

  static Constant dense_shape(const onnx::SparseTensorProto& from) {
    Constant result;
    result.type = static_cast<ElementType>(from.values().data_type());
    result.shape = shape_of(from.values().name(), from.dims());
    return result;
  }

  std::filesystem::path folder_;
  std::size_t n_nodes_ = 0;
  std::int64_t n_numbers_ = 0;
};

}  // namespace

Result<Model> read_model(const std::string& path) {
  const auto mistake = [&](const std::string& message, const std::string& hint,
                           DiagnosticCause cause = DiagnosticCause::kContent) {
    return tl::unexpected(Diagnostics{{Severity::kError, {path, 0, 0}, message, "", hint, cause}});
  };
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return mistake("cannot read the file", std::strerror(errno), DiagnosticCause::kUnreadable);
  onnx::ModelProto model;
  google::protobuf::io::IstreamInputStream stream(&file);
  google::protobuf::io::CodedInputStream input(&stream);
  google::protobuf::SetLogHandler(nullptr);
  if (!model.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage())
    return mistake("this is no ONNX model, or a part of one is missing",
                   "the file ends early, or its bytes are not those of a protobuf ModelProto");
  try {
    return ModelReader(std::filesystem::path(path).parent_path()).read(model);
  } catch (const Unreadable& unreadable) {
    return mistake(unreadable.message, unreadable.hint);
  }
}

}  // namespace sluice::onnx_graph
