#pragma once

#include <optional>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

struct Heads {
  View query, key, value;  ///< [B, H, S, E], [B, G, T, E], [B, G, T, F]
  std::optional<View> mask;
  double scale = 0;       ///< 0: 1/sqrt(E)
  double cap = 0;         ///< 0: none
  bool caps_mask = true;  ///< the mask is added before the cap; com.microsoft adds it behind
};

/// softmax(cap · tanh((scale · Q Kᵀ + mask) / cap)) V; several heads of Q may share one of K and V.
struct Attended {
  View result;                   ///< [B, H, S, F]
  View scores, masked, weights;  ///< [B, H, S, T]
};
Attended attend(NodeContext& context, const Heads& heads, ElementType type);

/// [B, S, H · E] as [B, H, S, E], and back.
View with_heads(NodeContext& context, const View& view, std::int64_t heads, ElementType type);
View without_heads(NodeContext& context, const View& view, ElementType type);
/// Keys or values of earlier steps before those of now.
View with_past(NodeContext& context, std::size_t past, const View& now, ElementType type);
/// A mask of Booleans would have to become one of 0 and -inf.
std::optional<View> mask_of(NodeContext& context, std::size_t input);
void note_causal(NodeContext& context, const char* attribute);
/// Pairs of [B, H, S, D] turned by an angle each; `cos` and `sin`: [S, pairs] or [B, 1, S, pairs].
View rotated(NodeContext& context, const View& x, const View& cos, const View& sin,
             std::int64_t n_rotated, bool is_interleaved, const std::string& name,
             ElementType type);

}  // namespace sluice::onnx_graph
