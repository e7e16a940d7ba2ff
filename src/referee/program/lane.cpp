#include "lane.h"

#include <algorithm>

namespace sluice::referee {

Cell* Buffer::find(Element element) {
  if (points.empty()) return nullptr;
  const Element first = points.front();
  if (points.back() - first + 1 == static_cast<Element>(points.size()))  // without gaps
    return element < first || element > points.back()
               ? nullptr
               : &cells[static_cast<std::size_t>(element - first)];
  const auto place = std::lower_bound(points.begin(), points.end(), element);
  if (place == points.end() || *place != element) return nullptr;
  return &cells[static_cast<std::size_t>(place - points.begin())];
}

void Buffer::move_to(Points wanted, std::optional<IndexBox> box_of_wanted) {
  std::vector<Cell> moved(wanted.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < wanted.size() && !points.empty(); ++i)
    if (const Cell* cell = find_next(wanted[i], next)) moved[i] = *cell;
  points = std::move(wanted);
  box = std::move(box_of_wanted);
  cells = std::move(moved);
}

}  // namespace sluice::referee
