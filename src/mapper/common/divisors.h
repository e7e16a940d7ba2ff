#pragma once

#include <cstdint>
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

}  // namespace sluice
