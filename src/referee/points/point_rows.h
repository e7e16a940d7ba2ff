#pragma once

#include "points.h"

namespace sluice::referee {

/// Visits every point of a box, the last variable fastest, a row along it at a time:
/// `visit(at, steps, length)`. `at`: the elements of the row's first point, the visitor's own from
/// then on; `steps`: how far one step along the row goes in each.
template <class Visit>
void for_each_row(const Box& box, const std::vector<LinearElement>& linear, const Visit& visit) {
  for (const Range& range : box)
    if (range.size == 0) return;
  const bool is_one_point = box.empty();
  std::vector<Element> at(linear.size()), steps;
  for (const LinearElement& element : linear)
    steps.push_back(is_one_point ? 0 : element.steps.back());
  Box point = box;
  while (true) {
    for (std::size_t a = 0; a < linear.size(); ++a) at[a] = linear[a].at(point);
    visit(at, steps, is_one_point ? 1 : box.back().size);
    std::size_t v = is_one_point ? 0 : box.size() - 1;
    while (v > 0 && point[v - 1].begin + 1 == box[v - 1].end()) {
      point[v - 1].begin = box[v - 1].begin;
      --v;
    }
    if (v == 0) return;
    ++point[v - 1].begin;
  }
}

}  // namespace sluice::referee
