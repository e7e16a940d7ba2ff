#include "box.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice::kapla {

Interval part_of(const Interval& whole, std::int64_t index, std::int64_t count) {
  const std::int64_t length = whole.size();
  return {whole.begin + index * length / count, whole.begin + (index + 1) * length / count};
}

std::int64_t Box::size() const {
  std::int64_t values = 1;
  for (const Interval& side : sides) values = checked_multiply(values, side.size());
  return values;
}

std::int64_t overlap(const Box& a, const Box& b) {
  std::int64_t values = 1;
  for (std::size_t i = 0; i < a.sides.size(); ++i)
    values = checked_multiply(values, Interval{std::max(a.sides[i].begin, b.sides[i].begin),
                                               std::min(a.sides[i].end, b.sides[i].end)}
                                          .size());
  return values;
}

}  // namespace sluice::kapla
