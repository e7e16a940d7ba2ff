#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice::sampling {

/// A stream of random numbers (splitmix64): the same on every machine. Streams of one seed with
/// different numbers are independent, so that work can be shared out among threads.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(mix(mix(seed + kStep) ^ (stream * kStep + 1))) {}

  std::uint64_t next() { return mix(state_ += kStep); }
  /// A number below n >= 1.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

  template <class Item>
  const Item& pick(const std::vector<Item>& items) {
    return items[below(items.size())];
  }
  template <class Item>
  void shuffle(std::vector<Item>* items) {
    for (std::size_t i = items->size(); i > 1; --i) std::swap((*items)[i - 1], (*items)[below(i)]);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }
  std::uint64_t state_;
};

}  // namespace sluice::sampling
