#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice::fused {

/// Which trip counts some fused loops may have together, as far as bounds tell: asked while they
/// are chosen, from the outside in.
class TripFilter {
 public:
  using Trips = std::vector<std::int64_t>;
  /// Those that are left once the outer loops are chosen.
  struct Left {
    std::size_t first = 0, last = 0, depth = 0;
  };

  /// `places`: of the loops in an exchange row, ascending; `allowed`: trips in the order of these,
  /// ascending, which must outlive it.
  TripFilter(std::vector<std::uint32_t> places, std::vector<const Trips*> allowed)
      : places_(std::move(places)), allowed_(std::move(allowed)) {}

  const std::vector<std::uint32_t>& places() const { return places_; }
  Left all() const { return {0, allowed_.size(), 0}; }
  /// Of those that are left, the ones in which the next loop has so many.
  Left with(const Left& left, std::int64_t trips) const {
    const auto begin = allowed_.begin() + static_cast<std::ptrdiff_t>(left.first);
    const auto end = allowed_.begin() + static_cast<std::ptrdiff_t>(left.last);
    const auto first = std::partition_point(
        begin, end, [&](const Trips* own) { return (*own)[left.depth] < trips; });
    const auto last = std::partition_point(
        first, end, [&](const Trips* own) { return (*own)[left.depth] <= trips; });
    return {static_cast<std::size_t>(first - allowed_.begin()),
            static_cast<std::size_t>(last - allowed_.begin()), left.depth + 1};
  }

 private:
  std::vector<std::uint32_t> places_;
  std::vector<const Trips*> allowed_;
};

}  // namespace sluice::fused
