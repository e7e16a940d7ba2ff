#include "frontend/workload/index_boxes.h"

#include <algorithm>

namespace sluice {
namespace {

/// `whole` without the parts from number `from` on: cut along each rank at the next part, and what
/// lies beside it looked at by itself.
std::optional<IndexBox> left_over_from(IndexBox whole, const std::vector<IndexBox>& parts,
                                       std::size_t from) {
  if (is_empty(whole)) return std::nullopt;
  while (from < parts.size() && is_empty(intersection(whole, parts[from]))) ++from;
  if (from == parts.size()) return whole;
  for (std::size_t r = 0; r < whole.size(); ++r) {
    const IndexExtent part = parts[from][r];
    IndexBox below = whole, above = whole;
    below[r].high = std::min(whole[r].high, part.low - 1);
    above[r].low = std::max(whole[r].low, part.high + 1);
    for (const IndexBox& beside : {below, above})
      if (auto left = left_over_from(beside, parts, from + 1)) return left;
    whole[r] = {std::max(whole[r].low, part.low), std::min(whole[r].high, part.high)};
  }
  return std::nullopt;
}

}  // namespace

bool is_empty(const IndexBox& box) {
  return std::any_of(box.begin(), box.end(),
                     [](const IndexExtent& range) { return range.low > range.high; });
}

IndexBox intersection(const IndexBox& a, const IndexBox& b) {
  IndexBox both;
  for (std::size_t r = 0; r < a.size(); ++r)
    both.push_back({std::max(a[r].low, b[r].low), std::min(a[r].high, b[r].high)});
  return both;
}

std::optional<IndexBox> left_over(const IndexBox& whole, const std::vector<IndexBox>& parts) {
  return left_over_from(whole, parts, 0);
}

}  // namespace sluice
