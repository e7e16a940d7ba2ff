#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "onnx_graph/cascade/view.h"
#include "onnx_graph/model/graph.h"

namespace sluice::onnx_graph {

struct Lowering;

/// (values − zero) · scale, values of the graph by name; `zero` may be left out. `axis`: of scales
/// of channels.
struct Dequantised {
  std::string values, scale, zero;
  std::size_t axis = 0;
};

/// What a name of the graph stands for while the graph is walked.
struct Value {
  ElementType type = ElementType::kFloat;
  Shape shape;
  std::shared_ptr<const Constant> constant;  ///< null: not known before the run
  std::set<std::string> sources;             ///< of a constant: those it was made of, by name
  bool has_table = false;    ///< of a constant: values that follow from shapes alone are in it
  std::optional<View> view;  ///< of a constant: only when somebody reads it
  bool is_nonnegative = false;
  std::optional<Dequantised> dequantised;  ///< operators may take the integers instead
  /// Of a sequence, which is no tensor: what is in it.
  std::shared_ptr<const std::vector<Value>> elements;
  std::function<View(Lowering&)> make_view;  ///< where nobody has asked for the view yet
};

}  // namespace sluice::onnx_graph
