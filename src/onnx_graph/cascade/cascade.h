#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx_graph/cascade/expr.h"
#include "onnx_graph/cascade/view.h"

namespace sluice::onnx_graph {

/// A rank of tensors, or a variable of Einsums that walks one or is there for itself (windows).
struct Axis {
  std::string name;  ///< in capital letters; small ones are the variable's
  std::int64_t size = 1;
};

enum class TensorKind { kInput, kConstant, kMade };

struct CascadeTensor {
  std::string name;
  TensorKind kind = TensorKind::kMade;
  int bits = 32;
  std::vector<std::size_t> ranks;  ///< axes
  std::optional<double> initial;   ///< of elements that no Einsum writes
  bool is_state = false;           ///< a later step reads it, too: it stays a tensor
};

struct CascadeAccess {
  std::size_t tensor = 0;
  std::vector<Index> indices;  ///< over axes
  friend bool operator==(const CascadeAccess&, const CascadeAccess&) = default;
};

enum class Reducing { kNone, kSum, kProduct, kMin, kMax };

struct CascadeEinsum {
  CascadeAccess output;
  std::vector<CascadeAccess> inputs;
  Expr expression;
  Reducing reduction = Reducing::kNone;
  std::optional<std::size_t> weight;  ///< the input that an array holds still
  std::vector<std::size_t> nodes;     ///< of the graph, that it computes a part of
  bool is_mac = false;
};

/// Einsums as they come out of a graph, before they are written down.
class Cascade {
 public:
  std::size_t add_axis(const std::string& letter, std::int64_t size);
  /// `name` becomes one that specs allow, and that no other tensor has.
  std::size_t add_tensor(const std::string& name, TensorKind kind, int bits,
                         std::vector<std::size_t> ranks);
  void add(CascadeEinsum einsum);

  std::vector<Axis> axes;
  std::vector<CascadeTensor> tensors;
  std::vector<CascadeEinsum> einsums;

  /// Axes that an Einsum walks, in order of appearance.
  std::vector<std::size_t> axes_of(const CascadeEinsum& einsum) const;
  std::int64_t points_of(const CascadeEinsum& einsum) const;
  /// Operations at each point: a sum of products is one multiply-add.
  std::int64_t operations_of(const CascadeEinsum& einsum) const;
  std::int64_t volume(std::size_t tensor) const;

 private:
  std::map<std::string, int> axis_names_;
  std::map<std::string, int> tensor_names_;
};

/// A view of a whole tensor whose dimensions are these groups of its ranks.
View view_of(const Cascade& cascade, std::size_t tensor,
             const std::vector<std::vector<std::size_t>>& dimensions);

}  // namespace sluice::onnx_graph
