#pragma once

#include <cstdint>

#include "sluice/support/error.h"

namespace sluice {

/// Product of two counts; throws OverflowError outside 64 bits.
inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw OverflowError("a count exceeds 64 bits");
  return result;
}

/// Sum of two counts; throws OverflowError outside 64 bits.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw OverflowError("a count exceeds 64 bits");
  return result;
}

/// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace sluice
