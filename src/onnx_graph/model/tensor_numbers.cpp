#include "onnx_graph/model/tensor_numbers.h"

#include <cmath>
#include <cstring>

#include "onnx_graph/model/onnx_messages.h"

namespace sluice::onnx_graph {
namespace {

template <class T, class To>
std::vector<To> from_bytes(const std::string& bytes, std::size_t count) {
  std::vector<To> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<To>(value);
  }
  return numbers;
}

double half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = (bits & 1023) / 1024.0;
  const double sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

double brain_float(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return static_cast<double>(value);
}

std::vector<double> sixteen_bits(const std::vector<std::uint16_t>& bits, bool is_brain) {
  std::vector<double> numbers;
  numbers.reserve(bits.size());
  for (const std::uint16_t value : bits)
    numbers.push_back(is_brain ? brain_float(value) : half(value));
  return numbers;
}

/// Two in a byte, the first one in its lower half.
std::vector<std::int64_t> halves_of_bytes(const std::vector<std::uint8_t>& bytes, std::size_t count,
                                          bool is_signed) {
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t half = (bytes[i / 2] >> (i % 2 * 4)) & 15;
    numbers[i] = is_signed && half > 7 ? half - 16 : half;
  }
  return numbers;
}

void read_raw(const std::string& raw, std::size_t count, Constant& constant) {
  if (raw.size() != (count * static_cast<std::size_t>(bits_of(constant.type)) + 7) / 8) return;
  switch (constant.type) {
    case ElementType::kFloat:
      constant.reals = from_bytes<float, double>(raw, count);
      break;
    case ElementType::kDouble:
      constant.reals = from_bytes<double, double>(raw, count);
      break;
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      constant.reals = sixteen_bits(from_bytes<std::uint16_t, std::uint16_t>(raw, count),
                                    constant.type == ElementType::kBfloat16);
      break;
    case ElementType::kUint8:
    case ElementType::kBool:
      constant.integers = from_bytes<std::uint8_t, std::int64_t>(raw, count);
      break;
    case ElementType::kInt8:
      constant.integers = from_bytes<std::int8_t, std::int64_t>(raw, count);
      break;
    case ElementType::kUint16:
      constant.integers = from_bytes<std::uint16_t, std::int64_t>(raw, count);
      break;
    case ElementType::kInt16:
      constant.integers = from_bytes<std::int16_t, std::int64_t>(raw, count);
      break;
    case ElementType::kUint32:
      constant.integers = from_bytes<std::uint32_t, std::int64_t>(raw, count);
      break;
    case ElementType::kInt32:
      constant.integers = from_bytes<std::int32_t, std::int64_t>(raw, count);
      break;
    case ElementType::kInt64:
    case ElementType::kUint64:
      constant.integers = from_bytes<std::int64_t, std::int64_t>(raw, count);
      break;
    case ElementType::kInt4:
    case ElementType::kUint4:
      constant.integers =
          halves_of_bytes({raw.begin(), raw.end()}, count, constant.type == ElementType::kInt4);
      break;
    default:
      break;
  }
}

template <class From, class To>
void take(const From& from, std::size_t count, std::optional<std::vector<To>>& to) {
  if (static_cast<std::size_t>(from.size()) == count) to.emplace(from.begin(), from.end());
}

}  // namespace

void read_numbers(const onnx::TensorProto& tensor, std::int64_t count, Constant& constant) {
  const std::size_t n = static_cast<std::size_t>(count);
  if (tensor.has_raw_data()) return read_raw(tensor.raw_data(), n, constant);
  switch (constant.type) {
    case ElementType::kFloat:
      return take(tensor.float_data(), n, constant.reals);
    case ElementType::kDouble:
      return take(tensor.double_data(), n, constant.reals);
    case ElementType::kInt64:
      return take(tensor.int64_data(), n, constant.integers);
    case ElementType::kUint32:
    case ElementType::kUint64:
      return take(tensor.uint64_data(), n, constant.integers);
    case ElementType::kFloat16:
    case ElementType::kBfloat16: {
      std::optional<std::vector<std::uint16_t>> bits;
      take(tensor.int32_data(), n, bits);
      if (bits) constant.reals = sixteen_bits(*bits, constant.type == ElementType::kBfloat16);
      return;
    }
    case ElementType::kBool:
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kInt32:
      return take(tensor.int32_data(), n, constant.integers);
    case ElementType::kInt4:
    case ElementType::kUint4: {
      std::optional<std::vector<std::uint8_t>> bytes;
      take(tensor.int32_data(), (n + 1) / 2, bytes);
      if (bytes)
        constant.integers = halves_of_bytes(*bytes, n, constant.type == ElementType::kInt4);
      return;
    }
    default:
      return;
  }
}

}  // namespace sluice::onnx_graph
