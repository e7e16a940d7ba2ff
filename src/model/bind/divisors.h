#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

/// Prime factors with their powers, ascending; none of 1. Of numbers from 1 to 2^62, in some
/// milliseconds.
std::vector<std::pair<std::int64_t, int>> factors_of(std::int64_t value);

/// Of numbers from 1 on: what is left of one without its factors of two.
inline std::int64_t odd_part_of(std::int64_t value) {
  return value >> std::countr_zero(static_cast<std::uint64_t>(value));
}

/// Of numbers from 2 on.
std::int64_t smallest_prime_of(std::int64_t value);

/// Prime factors, each once, ascending.
std::vector<std::int64_t> primes_of(std::int64_t value);

/// Ascending, 1 and `value` included.
std::vector<std::int64_t> divisors_of(std::int64_t value);

/// Divisors that are asked for again and again. References stay valid.
class DivisorMemo {
 public:
  /// Ascending, 1 and `value` included.
  const std::vector<std::int64_t>& of(std::int64_t value) {
    std::vector<std::int64_t>& known = known_[value];
    if (known.empty()) known = divisors_of(value);
    return known;
  }

 private:
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> known_;
};

}  // namespace sluice
