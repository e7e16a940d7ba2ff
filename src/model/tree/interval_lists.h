#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

/// Places `begin` to `end`, without `end`.
struct PlaceRange {
  int begin = 0;
  int end = 0;
};

/// Which of many intervals each place lies in.
class IntervalLists {
 public:
  IntervalLists() = default;
  /// Places are 0 to `n_places`; what lies outside is cut off.
  IntervalLists(std::size_t n_places, std::span<const PlaceRange> intervals)
      : begin_(n_places + 1, 0) {
    const auto for_each = [&](auto function) {
      for (std::size_t i = 0; i < intervals.size(); ++i)
        for (int place = std::max(intervals[i].begin, 0);
             place < std::min(intervals[i].end, static_cast<int>(n_places)); ++place)
          function(static_cast<std::size_t>(place), static_cast<std::uint32_t>(i));
    };
    for_each([&](std::size_t place, std::uint32_t) { ++begin_[place + 1]; });
    for (std::size_t place = 0; place < n_places; ++place) begin_[place + 1] += begin_[place];
    lists_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for_each([&](std::size_t place, std::uint32_t i) { lists_[next[place]++] = i; });
  }

  /// The intervals that have a place, ascending.
  std::span<const std::uint32_t> operator[](std::size_t place) const {
    if (place + 1 >= begin_.size()) return {};
    return {lists_.data() + begin_[place], lists_.data() + begin_[place + 1]};
  }

 private:
  std::vector<std::uint32_t> begin_;  ///< per place: where its list starts
  std::vector<std::uint32_t> lists_;
};

}  // namespace sluice
