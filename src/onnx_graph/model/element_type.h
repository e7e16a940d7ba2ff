#pragma once

#include <string>

namespace sluice::onnx_graph {

/// ONNX's numbers of element types.
enum class ElementType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3Fn = 17,
  kFloat8E4M3Fnuz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2Fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26
};

/// Whether ONNX has this type, and its values are numbers of a known width.
bool is_of_numbers(ElementType type);
/// Bits of one value, 8 of a Boolean; 32 of types without a width (text, unknown ones).
int bits_of(ElementType type);
/// Integers and Booleans.
bool is_integer(ElementType type);
/// Smallest and largest value of an integer type of at most 32 bits.
double lowest(ElementType type);
double highest(ElementType type);

}  // namespace sluice::onnx_graph
