#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace sluice::oracle {

/// Draws that depend on the seed alone, on every platform.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int>(values.size())));
  }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  template <class T>
  T& one_of(std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  std::string text_of(std::initializer_list<const char*> values) {
    return *(values.begin() + below(static_cast<int>(values.size())));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sluice::oracle
