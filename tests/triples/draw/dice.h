#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sluice::triples {

/// Draws that depend on the seed alone, on every platform.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 7) {}
  std::int64_t below(std::size_t n) { return static_cast<std::int64_t>(engine_() % n); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& any(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(values.size()))];
  }
  std::string text_of(const std::vector<std::string>& values) { return any(values); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sluice::triples
