#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// A number that stands in the expression, or a tensor that is read.
struct Parameter {
  std::optional<double> value;
  std::optional<View> view;
};

/// Scales and zero points of whole tensors are numbers. Those of weights that are not in the file
/// are read, one value each or one a channel. `dimension`: of the tensor of `rank` that they belong
/// to, counted from the front.
Parameter parameter(NodeContext& context, std::size_t input, double otherwise, std::size_t rank,
                    std::size_t dimension);

/// A bias of channels, which are the `dimension` of a tensor of `rank`.
Parameter bias_of(NodeContext& context, std::size_t input, std::size_t rank, std::size_t dimension);

/// The reads of a pointwise function in which parameters take part.
class Reads {
 public:
  explicit Reads(std::vector<View> first) : views_(std::move(first)) {}
  std::size_t add(const Parameter& parameter);
  Expr get(const std::vector<Expr>& reads, std::size_t parameter, std::size_t n_first) const;
  const std::vector<View>& views() const { return views_; }

 private:
  std::vector<View> views_;
  std::vector<Parameter> parameters_;
};

/// saturate(round(x / scale) + zero)
Expr quantised(const Expr& x, Expr scale, Expr zero, ElementType type);
/// (x − zero) · scale
Expr dequantised(const Expr& x, Expr scale, Expr zero);

/// The attribute `axis` of a quantisation.
std::size_t channel_axis(NodeContext& context, std::size_t rank);
/// function(x, scale, zero) with scales and zero points of blocks along an axis, the last block
/// perhaps a shorter one.
using ByScale = std::function<Expr(const Expr&, Expr, Expr)>;
View by_blocks(NodeContext& context, ElementType type, const ByScale& function);

/// The real numbers of a DequantizeLinear.
View dequantise(NodeContext& context);

/// An operand without its zero point; one of zero costs nothing. Centred values need a bit more,
/// the width of the operand is kept: arrays take the zero point off while they multiply.
View centred(NodeContext& context, std::size_t input, std::size_t zero_input, std::size_t dimension,
             const std::string& name);

}  // namespace sluice::onnx_graph
