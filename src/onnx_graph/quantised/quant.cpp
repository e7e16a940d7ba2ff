#include <cmath>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/operators/scaling.h"

namespace sluice::onnx_graph {
namespace {

void set_bits(NodeContext& context, const View& view, double bits) {
  if (bits >= 1 && bits <= 64)
    context.cascade().tensors[view.tensor].bits = static_cast<int>(std::ceil(bits));
}

/// A constant keeps its numbers, with fewer bits each.
bool quantises_constant(NodeContext& context, double bits) {
  const Value value = context.in(0);
  if (!value.constant) return false;
  context.approximate(
      "constants are quantised before the run: their numbers are those of the file");
  const View view = context.table(context.output_name(), *value.constant, value.sources);
  set_bits(context, view, bits);
  context.set(0, view, value.type, value.is_nonnegative);
  return true;
}

/// QONNX's: x, scale, zero point, number of bits; values stay real numbers of so many steps.
void quant(NodeContext& context) {
  const Value input = context.in(0);
  const std::size_t rank = input.shape.size();
  const double bits = context.scalar(3).value_or(32);
  if (!context.scalar(3)) context.approximate("its number of bits is not known: 32");
  if (quantises_constant(context, bits)) return;
  const bool is_signed = context.integer("signed", 1) != 0;
  const bool is_narrow = context.integer("narrow", 0) != 0;
  const double steps = std::exp2(std::min(bits, 32.0) - (is_signed ? 1 : 0));
  const double high = steps - 1 - (is_narrow && !is_signed ? 1 : 0);
  const double low = is_signed ? -steps + (is_narrow ? 1 : 0) : 0;
  if (context.text("rounding_mode", "ROUND") != "ROUND")
    context.approximate("it rounds to the nearest number");
  Reads reads({context.view(0)});
  const std::size_t scale = reads.add(parameter(context, 1, 1, rank, 0));
  const std::size_t zero = reads.add(parameter(context, 2, 0, rank, 0));
  const View result =
      context.pointwise(reads.views(), context.output_name(), input.type, [&](const auto& x) {
        const Expr s = reads.get(x, scale, 1), z = reads.get(x, zero, 1);
        const Expr whole = clipped(quantised(x[0], s, z, ElementType::kUndefined), low, high);
        return dequantised(rounded(whole), s, z);
      });
  set_bits(context, result, bits);
  context.set(0, result, input.type, !is_signed);
}

/// One bit: scale or -scale.
void bipolar_quant(NodeContext& context) {
  const Value input = context.in(0);
  if (quantises_constant(context, 1)) return;
  Reads reads({context.view(0)});
  const std::size_t scale = reads.add(parameter(context, 1, 1, input.shape.size(), 0));
  const View result =
      context.pointwise(reads.views(), context.output_name(), input.type, [&](const auto& x) {
        return (number(1) - number(2) * greater(number(0), x[0])) * reads.get(x, scale, 1);
      });
  set_bits(context, result, 1);
  context.set(0, result, input.type);
}

}  // namespace

void add_quant(OperatorTable& table) {
  table["Quant"] = table["IntQuant"] = quant;
  table["BipolarQuant"] = bipolar_quant;
}

}  // namespace sluice::onnx_graph
