#include "onnx_graph/model/element_type.h"

#include <cmath>

namespace sluice::onnx_graph {
namespace {

bool is_unsigned(ElementType type) {
  switch (type) {
    case ElementType::kUint2:
    case ElementType::kUint4:
    case ElementType::kUint8:
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kBool:
      return true;
    default:
      return false;
  }
}

}  // namespace

int bits_of(ElementType type) {
  switch (type) {
    case ElementType::kUint2:
    case ElementType::kInt2:
      return 2;
    case ElementType::kUint4:
    case ElementType::kInt4:
    case ElementType::kFloat4E2M1:
      return 4;
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool:
    case ElementType::kFloat8E4M3Fn:
    case ElementType::kFloat8E4M3Fnuz:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2Fnuz:
    case ElementType::kFloat8E8M0:
      return 8;
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 16;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kDouble:
    case ElementType::kComplex64:
      return 64;
    case ElementType::kComplex128:
      return 128;
    default:
      return 32;
  }
}

bool is_of_numbers(ElementType type) {
  constexpr int kText = 8, kLast = static_cast<int>(ElementType::kInt2);
  const int number = static_cast<int>(type);
  return number >= 1 && number <= kLast && number != kText;
}

bool is_integer(ElementType type) {
  switch (type) {
    case ElementType::kInt2:
    case ElementType::kInt4:
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
      return true;
    default:
      return is_unsigned(type);
  }
}

double lowest(ElementType type) {
  return is_unsigned(type) ? 0 : -std::ldexp(1.0, bits_of(type) - 1);
}

double highest(ElementType type) {
  return std::ldexp(1.0, is_unsigned(type) ? bits_of(type) : bits_of(type) - 1) - 1;
}

}  // namespace sluice::onnx_graph
