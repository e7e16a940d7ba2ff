#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx_graph/model/element_type.h"

namespace sluice::onnx_graph {

using Shape = std::vector<std::int64_t>;

/// Of a graph, with those of its branches; and after functions are written out.
inline constexpr std::size_t kMostNodes = 200'000;

/// A tensor whose shape is known before the run. Its numbers may be missing, or too many to keep.
struct Constant {
  ElementType type = ElementType::kFloat;
  Shape shape;
  std::optional<std::vector<std::int64_t>> integers;  ///< of integer and Boolean types
  std::optional<std::vector<double>> reals;           ///< of all others
  std::optional<double> uniform;  ///< the value of all, where they are too many to keep

  bool has_numbers() const { return integers.has_value() || reals.has_value(); }
  double number(std::size_t i) const {
    return integers ? static_cast<double>((*integers)[i]) : (*reals)[i];
  }
};

/// A tensor without values.
inline Constant empty_constant(ElementType type, Shape shape) {
  Constant result;
  result.type = type;
  result.shape = std::move(shape);
  if (is_integer(type))
    result.integers.emplace();
  else
    result.reals.emplace();
  return result;
}

struct Graph;

struct Attribute {
  std::string name;
  int kind = 0;  ///< ONNX's number of the attribute's type
  std::int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  std::shared_ptr<Constant> tensor;
  std::shared_ptr<Graph> graph;
  std::string refers_to;  ///< in a function: the attribute of the caller
};

struct Node {
  std::string name, type, domain;
  std::vector<std::string> inputs, outputs;  ///< empty: left out
  std::vector<Attribute> attributes;
  std::size_t call = 0;   ///< the call of a function that the graph has instead of it; 0: none
  std::string call_type;  ///< and the function, with its domain

  const Attribute* find(const std::string& attribute) const {
    for (const Attribute& a : attributes)
      if (a.name == attribute) return &a;
    return nullptr;
  }
};

struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;  ///< empty: no name
};

struct ValueInfo {
  std::string name;
  ElementType type = ElementType::kFloat;
  std::optional<std::vector<Dimension>> shape;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs, outputs;
  std::map<std::string, ValueInfo> values;  ///< value_info
  std::map<std::string, Constant> constants;
};

struct Function {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
};

struct Model {
  std::map<std::string, std::int64_t> opsets;  ///< by domain
  Graph graph;
  std::vector<Function> functions;
};

}  // namespace sluice::onnx_graph
