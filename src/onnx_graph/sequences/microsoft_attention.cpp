#include <fmt/format.h>

#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/products.h"
#include "onnx_graph/sequences/attention.h"

namespace sluice::onnx_graph {
namespace {

/// [B, S, parts] from `start` on, with the bias of that part.
View part_of(NodeContext& context, const View& all, std::int64_t start, std::int64_t count,
             ElementType type) {
  return context.slice(all, all.dimensions.size() - 1, start, 1, count, type);
}

View biased(NodeContext& context, const View& value, std::size_t bias, std::int64_t start,
            const std::string& name, ElementType type) {
  if (!context.has(bias)) return value;
  const std::int64_t width = size_of(value.dimensions.back());
  const View addend = context.slice(context.view(bias), 0, start, 1, width, type);
  return context.pointwise({value, addend}, name, type, [](const auto& x) { return x[0] + x[1]; });
}

/// [B, S, H, n, E] as n tensors [B, H, S, E].
std::vector<View> unpacked(NodeContext& context, const View& packed, ElementType type) {
  std::vector<View> parts;
  const Shape s = shape_of(packed);
  for (std::int64_t part = 0; part < s[3]; ++part) {
    const View one = context.slice(packed, 3, part, 1, 1, type);
    parts.push_back(transposed(context.reshape(one, {s[0], s[1], s[2], s[4]}, type), {0, 2, 1, 3}));
  }
  return parts;
}

void publish(NodeContext& context, const Heads& heads, const Attended& attended, ElementType type) {
  context.set(0, without_heads(context, attended.result, type), type);
  context.set(1, heads.key, type);
  context.set(2, heads.value, type);
}

void multi_head_attention(NodeContext& context) {
  const ElementType type = context.in(0).type;
  const std::int64_t heads = context.integer("num_heads", 1);
  note_causal(context, "unidirectional");
  const std::string name = context.output_name();
  Heads h;
  if (context.in(0).shape.size() == 5) {
    if (shape_of(context.view(0))[3] != 3) context.fail("its queries, keys and values do not fit");
    const auto parts = unpacked(context, context.view(0), type);
    h.query = parts[0], h.key = parts[1], h.value = parts[2];
    if (context.has(3)) context.approximate("the biases of its packed operands are left out");
  } else {
    const View query = context.view(0);
    const std::int64_t width = size_of(query.dimensions.back());
    h.query = with_heads(context, biased(context, query, 3, 0, name + "_query", type), heads, type);
    if (!context.has(1)) context.fail("it has queries, but no keys");
    if (context.in(1).shape.size() == 5) {
      if (shape_of(context.view(1))[3] != 2) context.fail("its keys and values do not fit");
      const auto parts = unpacked(context, context.view(1), type);
      h.key = parts[0], h.value = parts[1];
      if (context.has(3)) context.approximate("the biases of its packed operands are left out");
    } else {
      const bool is_flat =
          context.in(1).shape.size() == 3;  // else it is the past of cross attention
      const std::size_t bias = is_flat ? 3 : context.n_inputs();
      h.key = with_heads(
          context, biased(context, context.view(1), bias, width, name + "_key", type), heads, type);
      h.value = with_heads(context,
                           biased(context, context.view(2), bias, 2 * width, name + "_value", type),
                           heads, type);
    }
  }
  h.key = with_past(context, 6, h.key, type);
  h.value = with_past(context, 7, h.value, type);
  h.mask = mask_of(context, 5);
  if (context.has(4)) context.approximate("its key_padding_mask saves nothing");
  h.scale = context.real("scale", 0);
  publish(context, h, attend(context, h, type), type);
}

void group_query_attention(NodeContext& context) {
  const ElementType type = context.in(0).type;
  context.approximate("a causal mask saves nothing: every query sees every key");
  const std::int64_t heads = context.integer("num_heads", 1);
  const std::int64_t shared = context.integer("kv_num_heads", heads);
  const View first = context.view(0);
  if (heads < 1 || shared < 1 || first.dimensions.size() != 3)
    context.fail("its heads do not fit its queries");
  View query = first, key, value;
  if (context.has(1) && context.has(2)) {
    key = context.view(1), value = context.view(2);
  } else {  // packed: queries, keys and values side by side
    const std::int64_t width = size_of(first.dimensions.back()), n = heads + 2 * shared;
    if (width % n != 0) context.fail("its heads do not fit its packed queries, keys and values");
    const std::int64_t each = width / n;
    query = part_of(context, first, 0, heads * each, type);
    key = part_of(context, first, heads * each, shared * each, type);
    value = part_of(context, first, (heads + shared) * each, shared * each, type);
  }
  Heads h;
  h.query = with_heads(context, query, heads, type);
  h.key = with_heads(context, key, shared, type);
  h.value = with_heads(context, value, shared, type);
  if (context.integer("do_rotary", 0) != 0 && context.has(7) && context.has(8)) {
    const auto angles = [&](std::size_t input) {
      const std::int64_t steps = size_of(h.query.dimensions[2]);
      const std::int64_t rows = size_of(context.view(input).dimensions[0]);
      if (steps > rows) context.fail("its caches of angles are shorter than its queries");
      return context.slice(context.view(input), 0, 0, 1, steps, type);
    };
    const View cos = angles(7), sin = angles(8);
    context.approximate("which rows of the caches of angles it reads is left open: the first ones");
    const std::int64_t n_rotated = 2 * size_of(cos.dimensions.back());
    const bool is_interleaved = context.integer("rotary_interleaved", 0) != 0;
    const std::string name = context.output_name();
    h.query = rotated(context, h.query, cos, sin, n_rotated, is_interleaved, name + "_query", type);
    h.key = rotated(context, h.key, cos, sin, n_rotated, is_interleaved, name + "_key", type);
  }
  h.key = with_past(context, 3, h.key, type);
  h.value = with_past(context, 4, h.value, type);
  h.scale = context.real("scale", 0);
  h.cap = context.real("softcap", 0);
  h.caps_mask = false;
  publish(context, h, attend(context, h, type), type);
}

}  // namespace

void packed_attention(NodeContext& context) {
  const ElementType type = context.in(0).type;
  note_causal(context, "unidirectional");
  const std::int64_t heads = context.integer("num_heads", 1);
  const std::string name = context.output_name();
  View all = context.view(0);
  if (context.has(1)) {
    all = multiply_matrices(context, all, context.view(1), name + "_qkv", type);
    all = biased(context, all, 2, 0, name + "_qkv_biased", type);
  }
  const std::int64_t width = size_of(all.dimensions.back());
  std::vector<std::int64_t> widths = context.integers("qkv_hidden_sizes");
  if (widths.empty()) widths.assign(3, width / 3);
  if (widths.size() != 3 || all.dimensions.size() != 3 ||
      volume({widths[0] + widths[1] + widths[2]}) != width || widths[0] != widths[1])
    context.fail("its weights do not come apart in queries, keys and values");
  Heads h;
  const auto part = [&](std::size_t i, std::int64_t start) {
    return with_heads(context, part_of(context, all, start, widths[i], type), heads, type);
  };
  h.query = part(0, 0);
  h.key = part(1, widths[0]);
  h.value = part(2, widths[0] + widths[1]);
  if (context.has(4)) context.approximate("keys and values of earlier steps are left out");
  if (context.has(3)) context.approximate("its mask of lengths saves nothing");
  h.mask = mask_of(context, 5);
  h.scale = context.real("scale", 0);
  context.set(0, without_heads(context, attend(context, h, type).result, type), type);
  if (context.node().outputs.size() > 1 && !context.node().outputs[1].empty()) {
    View both = context.pointwise({h.key, h.value}, context.output_name(1), type,
                                  [](const auto& x) { return x[0] + x[1]; });
    both.dimensions.insert(both.dimensions.begin(), Digits{});
    repeat(both, 0, 2);
    context.approximate("its keys and values are put out as one copy");
    context.set(1, both, type);
  }
}

void add_microsoft_attention(OperatorTable& table) {
  table["MultiHeadAttention"] = multi_head_attention;
  table["GroupQueryAttention"] = group_query_attention;
}

}  // namespace sluice::onnx_graph
