#include <fmt/format.h>

#include <cmath>

#include "onnx_graph/operators/joins.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/products.h"
#include "onnx_graph/operators/softmax.h"
#include "onnx_graph/sequences/attention.h"

namespace sluice::onnx_graph {

View with_heads(NodeContext& context, const View& view, std::int64_t heads, ElementType type) {
  const Shape shape = shape_of(view);
  if (shape.size() == 4) return view;
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    context.fail(
        fmt::format("[{}] does not come apart in {} heads", fmt::join(shape, ", "), heads));
  return transposed(context.reshape(view, {shape[0], shape[1], heads, shape[2] / heads}, type),
                    {0, 2, 1, 3});
}

Attended attend(NodeContext& context, const Heads& heads, ElementType type) {
  const Shape q = shape_of(heads.query), k = shape_of(heads.key);
  if (k.size() != 4 || q.size() != 4 || q[1] % k[1] != 0)
    context.fail("its heads do not fit together");
  const std::string name = context.output_name();
  const double scale = heads.scale != 0 ? heads.scale : 1 / std::sqrt(static_cast<double>(q[3]));
  const View query = context.reshape(heads.query, {q[0], k[1], q[1] / k[1], q[2], q[3]}, type);
  const auto shared = [&](View view) {
    view.dimensions.insert(view.dimensions.begin() + 2, Digits{});
    return view;
  };
  const View key = transposed(shared(heads.key), {0, 1, 2, 4, 3});
  const View products = multiply_matrices(context, query, key, name + "_scores", type);
  View scores = products;
  const bool has_mask = heads.mask && (heads.mask->dimensions.empty() ||
                                       size_of(heads.mask->dimensions.back()) == 1 ||
                                       size_of(heads.mask->dimensions.back()) == k[2]);
  if (heads.mask && !has_mask) context.approximate("a mask of fewer keys is left out");
  const bool has_more = has_mask || heads.cap != 0;
  if (has_more) {
    std::vector<View> views = {scores};
    if (has_mask) {
      View mask = *heads.mask;
      while (mask.dimensions.size() < 4) mask.dimensions.insert(mask.dimensions.begin(), Digits{});
      Shape shape = shape_of(mask);
      const bool per_head = shape[1] != 1;
      const Shape split = {shape[0], per_head ? k[1] : 1, per_head ? q[1] / k[1] : 1, shape[2],
                           shape[3]};
      views.push_back(context.reshape(mask, split, type));
    }
    scores = context.pointwise(views, name + "_masked", type, [&](const auto& x) {
      Expr value = x[0] * number(scale);
      if (has_mask && heads.caps_mask) value = std::move(value) + x[1];
      if (heads.cap != 0)
        value = number(heads.cap) * apply("tanh", {std::move(value) * number(1 / heads.cap)});
      return has_mask && !heads.caps_mask ? std::move(value) + x[1] : value;
    });
  }
  const View weights = softmax(context, scores, {4}, name + "_weights", type, has_more ? 1 : scale);
  const View result = multiply_matrices(context, weights, shared(heads.value), name, type);
  const auto flat = [&](const View& view) {
    const Shape shape = shape_of(view);
    return context.reshape(view, {shape[0], q[1], shape[3], shape[4]}, type);
  };
  return {flat(result), flat(products), flat(scores), flat(weights)};
}

View without_heads(NodeContext& context, const View& view, ElementType type) {
  const Shape s = shape_of(view);
  return context.reshape(transposed(view, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]}, type);
}

View with_past(NodeContext& context, std::size_t past, const View& now, ElementType type) {
  const bool is_there = context.has(past) && volume(context.in(past).shape) > 0;
  return is_there ? join(context, {context.view(past), now}, 2, type) : now;
}

std::optional<View> mask_of(NodeContext& context, std::size_t input) {
  if (!context.has(input)) return std::nullopt;
  if (context.in(input).type == ElementType::kBool)
    context.approximate("a mask of Booleans is added as numbers");
  return context.view(input);
}

void note_causal(NodeContext& context, const char* attribute) {
  if (context.integer(attribute, 0) != 0)
    context.approximate("a causal mask saves nothing: every query sees every key");
}

View rotated(NodeContext& context, const View& x, const View& cos, const View& sin,
             std::int64_t n_rotated, bool is_interleaved, const std::string& name,
             ElementType type) {
  const Shape shape = shape_of(x);
  View turned = context.slice(x, 3, 0, 1, n_rotated, type);
  const Shape pairs = is_interleaved ? Shape{shape[0], shape[1], shape[2], n_rotated / 2, 2}
                                     : Shape{shape[0], shape[1], shape[2], 2, n_rotated / 2};
  turned = context.reshape(turned, pairs, type);
  const std::size_t of_pair = is_interleaved ? 4 : 3;
  const auto half = [&](std::int64_t which) {
    const View part = context.slice(turned, of_pair, which, 1, 1, type);
    return context.reshape(part, {shape[0], shape[1], shape[2], n_rotated / 2}, type);
  };
  const View x1 = half(0), x2 = half(1);
  View first = context.pointwise({x1, cos, x2, sin}, name + "_1", type,
                                 [](const auto& v) { return v[0] * v[1] - v[2] * v[3]; });
  View second = context.pointwise({x1, sin, x2, cos}, name + "_2", type,
                                  [](const auto& v) { return v[0] * v[1] + v[2] * v[3]; });
  Shape single = pairs;
  single[of_pair] = 1;
  View result =
      join(context, {context.reshape(first, single, type), context.reshape(second, single, type)},
           of_pair, type);
  result = context.reshape(result, {shape[0], shape[1], shape[2], n_rotated}, type);
  if (n_rotated < shape[3])
    result = join(context, {result, context.slice(x, 3, n_rotated, 1, shape[3] - n_rotated, type)},
                  3, type);
  return result;
}

namespace {

void attention(NodeContext& context) {
  if (context.node().domain == "com.microsoft") return packed_attention(context);
  const ElementType type = context.in(0).type;
  note_causal(context, "is_causal");
  const bool is_flat = context.in(0).shape.size() == 3;
  const std::int64_t heads = context.integer("q_num_heads", 1);
  const std::int64_t shared = context.integer("kv_num_heads", heads);
  Heads h;
  h.query = with_heads(context, context.view(0), heads, type);
  h.key = with_past(context, 4, with_heads(context, context.view(1), shared, type), type);
  h.value = with_past(context, 5, with_heads(context, context.view(2), shared, type), type);
  h.mask = mask_of(context, 3);
  h.scale = context.real("scale", 0);
  h.cap = context.real("softcap", 0);
  const Attended attended = attend(context, h, type);
  const View& result = attended.result;
  context.set(0, is_flat ? without_heads(context, result, type) : result, type);
  context.set(1, h.key, type);
  context.set(2, h.value, type);
  const std::int64_t mode = context.integer("qk_matmul_output_mode", 0);
  if (context.node().outputs.size() > 3 && mode == 0 && h.scale != 1)
    context.approximate("its scores are put out before they are scaled");
  if (context.node().outputs.size() > 3 && mode == 1 && h.cap != 0)
    context.approximate("its scores with the mask are put out behind the softcap");
  context.set(3,
              mode == 0   ? attended.scores
              : mode == 3 ? attended.weights
                          : attended.masked,
              type);
}

/// Turns pairs by angles out of caches: x1 · cos − x2 · sin, x1 · sin + x2 · cos.
void rotary_embedding(NodeContext& context) {
  const Value input = context.in(0);
  const ElementType type = input.type;
  const bool is_microsoft = context.node().domain == "com.microsoft";
  const std::size_t cos_at = is_microsoft ? 2 : 1, positions_at = is_microsoft ? 1 : 3;
  const Shape cache = context.in(cos_at).shape;
  const std::int64_t heads = context.integer("num_heads", 0);
  std::int64_t n_rotated = context.integer("rotary_embedding_dim", 0);
  if (cache.empty() || cache.back() < 1 || cache.back() > 1 << 20)
    context.fail("its caches do not fit its input");
  if (n_rotated == 0) n_rotated = 2 * cache.back();
  if (n_rotated < 2) context.fail("it rotates nothing");
  View x = context.view(0);
  if (input.shape.size() == 3)
    x = with_heads(context, x, heads > 0 ? heads : input.shape[2] / n_rotated, type);
  const Shape shape = shape_of(x);  // [B, H, S, D]
  if (n_rotated != 2 * cache.back() || n_rotated > shape[3])
    context.fail("its caches do not fit its input");
  const auto angles = [&](std::size_t at) {
    View view = context.view(at);
    if (context.has(positions_at) && view.dimensions.size() == 2) {
      context.approximate("which rows of the caches it reads is left open: the first ones");
      view = context.slice(view, 0, 0, 1, std::min(cache[0], shape[2]), type);
    }
    if (view.dimensions.size() == 3) view.dimensions.insert(view.dimensions.begin() + 1, Digits{});
    return view;
  };
  const View result = rotated(context, x, angles(cos_at), angles(cos_at + 1), n_rotated,
                              context.integer("interleaved", 0) != 0, context.output_name(), type);
  context.set(0, input.shape.size() == 3 ? without_heads(context, result, type) : result, type);
}

}  // namespace

void add_attention(OperatorTable& table) {
  table["Attention"] = attention;
  table["RotaryEmbedding"] = rotary_embedding;
}

}  // namespace sluice::onnx_graph
