#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx_graph/cascade/cascade.h"
#include "onnx_graph/lower/value.h"
#include "onnx_graph/model/graph.h"
#include "sluice/support/diagnostic.h"

namespace sluice::onnx_graph {

/// Why a node cannot be read; becomes a Diagnostic with its name.
struct NodeMistake {
  std::string message;
  std::string hint;
  bool needs_numbers = false;  ///< numbers that are not known before the run
};

/// Where an operator was met, and what came of it.
struct NodeRecord {
  std::string type;  ///< with its domain, where that is not ONNX's own
  std::string name;
  std::int64_t operations = 0;
  bool has_einsums = false;
  std::vector<std::string> approximations;  ///< what about it is not exact, each once
};

/// Where each rank of a tensor lies in another one that it has become a part of.
struct Placement {
  std::size_t tensor = 0;            ///< the other one
  std::vector<std::size_t> rank_of;  ///< per rank of the other one: one of the part; -1: none
  std::size_t joined_rank = 0;
  std::int64_t offset = 0;

  std::vector<Index> moved(const std::vector<Index>& indices) const;
};

/// The size that a name stands for, where it is known.
using SizeLookup = std::function<std::optional<std::int64_t>(const std::string&)>;

/// A size that depends on values: how `--set` calls it, and what it or the file says.
struct OpenSize {
  std::string name;
  std::optional<std::int64_t> size;
};

/// What all nodes of a graph share.
struct Lowering {
  Cascade cascade;
  std::map<std::string, Value> values;
  std::vector<NodeRecord> records;                                   ///< of the graph's own nodes
  std::map<std::size_t, std::shared_ptr<const Constant>> constants;  ///< by tensor
  std::map<std::string, std::int64_t> sources;        ///< constants of the graph, and their values
  std::set<std::string> used_constants;               ///< sources
  std::set<std::string> views;                        ///< of the graph, in what others have made
  std::map<std::size_t, std::string> constant_names;  ///< by tensor
  std::map<std::size_t, Placement> parts;             ///< tensors that are parts of others now
  std::set<std::string> outputs;                      ///< names of what the graph puts out
  std::map<std::string, std::int64_t> opsets;
  /// The shape that the file says a tensor has, where all of it is known.
  std::function<std::optional<Shape>(const std::string&)> declared_shape;
  /// A dimension of what a node makes whose size follows from values alone.
  std::function<OpenSize(const std::string&, std::size_t)> open_size;
  Diagnostics notes;  ///< about the graph as a whole
};

/// Views brought to one iteration space.
struct Aligned {
  std::vector<std::vector<std::size_t>> axes;  ///< per dimension of the common shape
  std::vector<CascadeAccess> accesses;         ///< per view
};

using Pointwise = std::function<Expr(const std::vector<Expr>&)>;

/// One node while its operator is written as Einsums.
class NodeContext {
 public:
  NodeContext(Lowering& lowering, const Node& node, std::size_t record)
      : lowering_(lowering), node_(node), record_(record) {}

  const Node& node() const { return node_; }
  std::size_t record() const { return record_; }
  std::int64_t opset() const;
  Lowering& lowering() { return lowering_; }
  Cascade& cascade() { return lowering_.cascade; }

  bool has(std::size_t input) const;
  std::size_t n_inputs() const { return node_.inputs.size(); }
  const Value& in(std::size_t input) const;
  /// How an input lies in the cascade; of a constant, a tensor of its own from the first call on.
  View view(std::size_t input);
  View view(const std::string& name);
  /// A view that was taken before a Concat made its tensor a part of another one, as it is now.
  View current(View view) const;
  /// The same of what is no parameter: scales and zero points.
  View uncounted_view(std::size_t input);
  /// The only number of a constant.
  std::optional<double> scalar(std::size_t input) const;
  /// Whole numbers of a constant input; a mistake where they are not known.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::optional<std::vector<std::int64_t>> known_integers(std::size_t input) const;

  std::int64_t integer(const std::string& attribute, std::int64_t otherwise) const;
  double real(const std::string& attribute, double otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(const std::string& attribute) const;
  bool has_attribute(const std::string& name) const { return node_.find(name) != nullptr; }
  /// An axis counted from the front.
  std::size_t axis(std::int64_t axis, std::size_t rank) const;
  /// Numbers from an attribute or, in later opsets, an input.
  std::optional<std::vector<std::int64_t>> attribute_or_input(const std::string& name,
                                                              std::size_t input) const;

  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;
  /// Says that the counts or numbers of this node are not exact.
  void approximate(const std::string& what);

  /// Names that tensors of this node get: that of an output, also with something behind it.
  std::string output_name(std::size_t output = 0) const;
  std::size_t new_tensor(const std::string& name, ElementType type,
                         const std::vector<std::vector<std::size_t>>& dimensions);
  void add(CascadeEinsum einsum);
  /// Adds an Einsum that makes all of a new tensor, each rank by a variable of its own; its view.
  View make(CascadeEinsum einsum, const std::vector<std::vector<std::size_t>>& dimensions,
            const std::string& name, ElementType type);

  /// Brings views to the shape that they have together (NumPy's broadcasting).
  Aligned align(std::vector<View> views, const Shape& shape);
  /// The digits of some dimensions of several views, made equal. Entries: (view, dimension).
  void match(std::vector<View>& views,
             const std::vector<std::pair<std::size_t, std::size_t>>& same);
  /// An access of a view: axes for each digit of each dimension.
  CascadeAccess access(const View& taken, const std::vector<std::vector<std::size_t>>& axes) const;
  /// Axes for the digits of one dimension: those that the view's tensor has, if they are free.
  std::vector<std::size_t> axes_for(const View& view, std::size_t dimension,
                                    const std::string& letter, std::set<std::size_t>& used);
  /// The same values in a tensor of its own, one rank a dimension; priced as copies.
  View copied(const View& view, ElementType type, const std::string& name);

  /// Emits out = function(inputs) element by element; the result's view.
  View pointwise(const std::vector<View>& views, const std::string& name, ElementType type,
                 const Pointwise& function);
  /// The same with node inputs; numbers that are known stand in the expression.
  View pointwise_inputs(const std::vector<std::size_t>& inputs, ElementType type,
                        const Pointwise& function, const std::string& name = {});
  /// Emits a reduction of function(inputs) over some dimensions, which have size 1 after it.
  View reduced(const std::vector<View>& views, const std::set<std::size_t>& dimensions,
               Reducing reduction, const std::string& name, ElementType type,
               const Pointwise& function);

  void set(std::size_t output, View view, ElementType type, bool is_nonnegative = false);
  /// A constant that is made before the run.
  void set_constant(std::size_t output, Constant constant, std::set<std::string> sources);
  /// The view of a constant that is no input of the graph (tables).
  View table(const std::string& name, Constant constant, const std::set<std::string>& sources = {});
  View reshape(const View& view, const Shape& shape, ElementType type);
  View slice(const View& view, std::size_t dimension, std::int64_t start, std::int64_t step,
             std::int64_t count, ElementType type);

 private:
  Lowering& lowering_;
  const Node& node_;
  std::size_t record_;
};

/// Whether one of these accesses has the axis in an index.
bool walks(const std::vector<CascadeAccess>& accesses, std::size_t axis);
/// The shape that these have together; a mistake where they do not fit.
Shape broadcast(const NodeContext& context, const std::vector<Shape>& shapes);
std::int64_t volume(const Shape& shape);

}  // namespace sluice::onnx_graph
