#pragma once

#include <cstdint>
#include <vector>

namespace sluice::fused {

/// Hash of a key of integers, for unordered containers.
struct KeyHash {
  std::size_t operator()(const std::vector<std::int64_t>& key) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL + key.size();
    for (std::int64_t value : key) hash = mix(hash ^ static_cast<std::uint64_t>(value));
    return hash;
  }
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
};

}  // namespace sluice::fused
