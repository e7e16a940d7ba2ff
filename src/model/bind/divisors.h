#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Ascending, 1 and `value` included.
inline std::vector<std::int64_t> divisors_of(std::int64_t value) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d * d <= value; ++d) {
    if (value % d != 0) continue;
    small.push_back(d);
    if (d != value / d) large.push_back(value / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

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
