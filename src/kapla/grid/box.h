#pragma once

#include <array>
#include <cstdint>

namespace sluice::kapla {

/// Half-open.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end > begin ? end - begin : 0; }
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

/// The `index`-th of `count` parts of an interval, as equal as whole numbers allow.
Interval part_of(const Interval& whole, std::int64_t index, std::int64_t count);

/// A part of a feature map: samples, channels, rows, columns.
struct Box {
  std::array<Interval, 4> sides{};
  std::int64_t size() const;
  friend auto operator<=>(const Box&, const Box&) = default;
};
enum BoxSide : std::size_t { kSampleSide, kChannelSide, kRowSide, kColumnSide };

/// Values that both have.
std::int64_t overlap(const Box& a, const Box& b);

}  // namespace sluice::kapla
