#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sluice::fused {

/// The divisors of numbers, ascending; each number's worked out once.
class Divisors {
 public:
  /// Of n >= 1. The reference stays valid.
  const std::vector<std::int64_t>& of(std::int64_t n) {
    std::vector<std::int64_t>& low = known_[n];
    if (!low.empty()) return low;
    std::vector<std::int64_t> high;
    for (std::int64_t d = 1; d * d <= n; ++d) {
      if (n % d != 0) continue;
      low.push_back(d);
      if (d * d != n) high.push_back(n / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
  }

 private:
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> known_;
};

}  // namespace sluice::fused
