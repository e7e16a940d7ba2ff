#include "onnx_graph/operators/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "onnx_graph/operators/dequantised.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

using Axes = std::vector<std::size_t>;

}  // namespace

View contract(NodeContext& context, std::vector<View> views,
              const std::vector<std::string>& letters_of_view, const std::string& output,
              const std::string& name, ElementType type, double scale) {
  for (View& view : views) view = context.current(std::move(view));
  // Parts of one tensor: an array holds one of its operands still, which is a tensor of its own.
  if (views.size() == 2 && views[0].tensor == views[1].tensor)
    views[1] = context.copied(views[1], ElementType::kUndefined, name + "_operand");
  std::map<char, std::vector<std::pair<std::size_t, std::size_t>>> users;
  for (std::size_t v = 0; v < views.size(); ++v)
    for (std::size_t d = 0; d < letters_of_view[v].size(); ++d)
      if (!views[v].dimensions[d].empty()) users[letters_of_view[v][d]].emplace_back(v, d);
  for (int pass = 0; pass < 2; ++pass)  // a copy may have changed other dimensions
    for (const auto& [letter, same] : users)
      if (same.size() > 1) context.match(views, same);
  std::map<char, Axes> axes;
  std::set<std::size_t> used;
  const auto name_axes = [&](char letter) {
    const auto found = users.find(letter);
    if (found == users.end() || axes.count(letter) > 0) return;
    const bool is_letter = std::isalpha(static_cast<unsigned char>(letter)) != 0;  // else of `...`
    const std::string word(
        1, is_letter ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : 'B');
    axes[letter] =
        context.axes_for(views[found->second[0].first], found->second[0].second, word, used);
  };
  for (const char letter : output) name_axes(letter);
  for (const auto& entry : users) name_axes(entry.first);
  CascadeEinsum einsum;
  Expr product = number(scale);
  std::vector<Expr> factors;
  for (std::size_t v = 0; v < views.size(); ++v) {
    std::vector<Axes> of_view;
    for (const char letter : letters_of_view[v])
      of_view.push_back(axes.count(letter) > 0 ? axes[letter] : Axes());
    for (std::size_t d = 0; d < of_view.size(); ++d)
      if (views[v].dimensions[d].empty()) of_view[d].clear();
    einsum.inputs.push_back(context.access(views[v], of_view));
    factors.push_back(read(v));
  }
  for (const auto& [letter, group] : axes)
    for (const std::size_t axis : group) {
      if (output.find(letter) != std::string::npos || walks(einsum.inputs, axis)) continue;
      const std::size_t first = users.at(letter)[0].first;  // of repetitions alone: written out
      views[first] = context.copied(views[first], ElementType::kUndefined, name + "_repeated");
      return contract(context, std::move(views), letters_of_view, output, name, type, scale);
    }
  einsum.expression = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i)
    einsum.expression = std::move(einsum.expression) * factors[i];
  if (scale != 1) einsum.expression = std::move(einsum.expression) * number(scale);
  bool reduces = false;
  for (const auto& [letter, group] : axes)
    reduces |= output.find(letter) == std::string::npos && !group.empty();
  einsum.reduction = reduces ? Reducing::kSum : Reducing::kNone;
  if (views.size() == 2 && !(einsum.inputs[0] == einsum.inputs[1]) && scale == 1) einsum.weight = 1;
  einsum.is_mac = views.size() > 1;
  std::vector<Axes> dimensions;
  for (const char letter : output)
    dimensions.push_back(axes.count(letter) > 0 ? axes[letter] : Axes());
  return context.make(std::move(einsum), dimensions, name, type);
}

namespace {

void mat_mul(NodeContext& context) {
  if (multiplied_as_integers(context)) return;
  const ElementType type = context.in(0).type;
  context.set(
      0, multiply_matrices(context, context.view(0), context.view(1), context.output_name(), type),
      type);
}

/// Microsoft's: operands may be transposed.
void fused_mat_mul(NodeContext& context) {
  const ElementType type = context.in(0).type;
  std::vector<View> views = {context.view(0), context.view(1)};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t n = views[i].dimensions.size();
    if (context.integer(i == 0 ? "transBatchA" : "transBatchB", 0) != 0 && n > 2)
      std::rotate(views[i].dimensions.begin(), views[i].dimensions.begin() + 1,
                  views[i].dimensions.end() - 1);  // the first dimension becomes that of the rows
    if (context.integer(i == 0 ? "transA" : "transB", 0) == 0 || n < 2) continue;
    std::swap(views[i].dimensions[n - 1], views[i].dimensions[n - 2]);
  }
  const double alpha = context.real("alpha", 1);
  const std::string name = context.output_name();
  View result =
      multiply_matrices(context, views[0], views[1], alpha == 1 ? name : name + "_product", type);
  if (alpha != 1)
    result = context.pointwise({result}, name, type,
                               [&](const auto& x) { return x[0] * number(alpha); });
  context.set(0, std::move(result), type);
}

/// alpha · A · B + beta · C. Opset 1 to 6: `broadcast` is always allowed here.
void gemm(NodeContext& context) {
  if (multiplied_as_integers(context)) return;
  const ElementType type = context.in(0).type;
  View a = context.view(0), b = context.view(1);
  if (a.dimensions.size() != 2 || b.dimensions.size() != 2)
    context.fail("its operands must be matrices");
  if (context.integer("transA", 0) != 0) std::swap(a.dimensions[0], a.dimensions[1]);
  if (context.integer("transB", 0) != 0) std::swap(b.dimensions[0], b.dimensions[1]);
  const double alpha = context.real("alpha", 1), beta = context.real("beta", 1);
  const bool has_addend = context.has(2) && beta != 0 && context.scalar(2) != 0.0;
  const bool is_scaled = alpha != 1 || has_addend;
  const std::string name = context.output_name();
  View result = multiply_matrices(context, std::move(a), std::move(b),
                                  is_scaled ? name + "_product" : name, type);
  if (is_scaled) {
    std::vector<View> views = {result};
    if (has_addend) views.push_back(context.view(2));
    result = context.pointwise(views, name, type, [&](const auto& x) {
      Expr value = alpha == 1 ? x[0] : x[0] * number(alpha);
      if (!has_addend) return value;
      return std::move(value) + (beta == 1 ? x[1] : x[1] * number(beta));
    });
  }
  context.set(0, std::move(result), type);
}

/// `ij,jk->ik`; without an arrow, letters that occur once, in their order.
struct Subscripts {
  std::vector<std::string> inputs;
  std::string output;
};

Subscripts read_subscripts(const NodeContext& context, const std::vector<std::size_t>& ranks) {
  std::string text;
  for (const char c : context.text("equation", ""))
    if (c != ' ') text += c;
  Subscripts result;
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::size_t begin = 0;
  for (std::size_t end; (end = left.find(',', begin)) != std::string::npos; begin = end + 1)
    result.inputs.push_back(left.substr(begin, end - begin));
  result.inputs.push_back(left.substr(begin));
  if (result.inputs.size() != ranks.size())
    context.fail(fmt::format("its equation '{}' has {} operands, the node {}", text,
                             result.inputs.size(), ranks.size()));
  std::string dots;  // digits stand for the dimensions of an ellipsis
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::string& letters = result.inputs[i];
    const std::size_t at = letters.find("...");
    if (at != std::string::npos) {
      if (letters.size() - 3 > ranks[i]) context.fail("its equation does not fit its operands");
      const std::size_t n = ranks[i] - (letters.size() - 3);
      if (n > 9) context.fail("its equation has too many dimensions");
      std::string digits;
      for (std::size_t d = 0; d < n; ++d) digits += static_cast<char>('9' - (n - 1 - d));
      if (digits.size() > dots.size()) dots = digits;
      letters.replace(at, 3, digits);
    }
    if (letters.size() != ranks[i]) context.fail("its equation does not fit its operands");
  }
  if (arrow != std::string::npos) {
    result.output = text.substr(arrow + 2);
    const std::size_t at = result.output.find("...");
    if (at != std::string::npos) result.output.replace(at, 3, dots);
  } else {
    std::map<char, int> counts;
    for (const std::string& letters : result.inputs)
      for (const char c : letters) ++counts[c];
    result.output = dots;
    for (const auto& [c, n] : counts)
      if (n == 1 && dots.find(c) == std::string::npos) result.output += c;
  }
  return result;
}

void einsum(NodeContext& context) {
  const ElementType type = context.in(0).type;
  std::vector<View> views;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.n_inputs(); ++i) {
    views.push_back(context.view(i));
    ranks.push_back(views.back().dimensions.size());
  }
  const Subscripts subscripts = read_subscripts(context, ranks);
  for (const std::string& letters : subscripts.inputs)
    for (const char c : letters)
      if (std::count(letters.begin(), letters.end(), c) > 1)
        context.fail("diagonals in an equation are not supported",
                     "docs/refusals.md lists what is refused");
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < views.size(); ++i)
    for (std::size_t d = 0; d < ranks[i]; ++d) {
      std::int64_t& size = sizes.emplace(subscripts.inputs[i][d], 1).first->second;
      const std::int64_t here = size_of(views[i].dimensions[d]);
      if (here != 1 && size != 1 && here != size)
        context.fail("sizes of its operands do not fit its equation");
      size = std::max(size, here);
    }
  for (const char c : subscripts.output)
    if (sizes.count(c) == 0) context.fail("its equation has a result that no operand gives");
  context.set(0,
              contract(context, views, subscripts.inputs, subscripts.output, context.output_name(),
                       type, 1),
              type);
}

}  // namespace

View multiply_matrices(NodeContext& context, View a, View b, const std::string& name,
                       ElementType type, double scale) {
  const bool is_row = a.dimensions.size() == 1, is_column = b.dimensions.size() == 1;
  if (a.dimensions.empty() || b.dimensions.empty()) context.fail("an operand has no dimensions");
  if (is_row) a.dimensions.insert(a.dimensions.begin(), Digits{});
  if (is_column) b.dimensions.emplace_back();
  const std::size_t rank = std::max(a.dimensions.size(), b.dimensions.size());
  if (rank > 20) context.fail("its operands have too many dimensions");
  std::string batch;
  batch = std::string("bhacdefgijlopqrstuvwxyz").substr(0, rank - 2);
  const auto letters = [&](const View& view, const char* last) {
    return batch.substr(batch.size() + 2 - view.dimensions.size()) + last;
  };
  const Shape left = shape_of(a), right = shape_of(b);
  if (left.back() != right[right.size() - 2])
    context.fail(fmt::format("[{}] × [{}]: {} columns do not fit {} rows", fmt::join(left, ", "),
                             fmt::join(right, ", "), left.back(), right[right.size() - 2]));
  broadcast(context, {Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2)});
  const std::string of_a = letters(a, "mk"), of_b = letters(b, "kn");
  View result = contract(context, {std::move(a), std::move(b)}, {of_a, of_b}, batch + "mn", name,
                         type, scale);
  if (is_column) result.dimensions.pop_back();
  if (is_row) result.dimensions.erase(result.dimensions.end() - (is_column ? 1 : 2));
  return result;
}

void add_products(OperatorTable& table) {
  table["MatMul"] = mat_mul;
  table["Gemm"] = gemm;
  table["Einsum"] = einsum;
  table["FusedMatMul"] = table["TransposeMatMul"] = fused_mat_mul;
}

}  // namespace sluice::onnx_graph
