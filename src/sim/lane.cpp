#include "lane.h"

#include <algorithm>

namespace sluice::sim {

Cell* Buffer::find(Element element) {
  const auto place = std::lower_bound(points.begin(), points.end(), element);
  if (place == points.end() || *place != element) return nullptr;
  return &cells[static_cast<std::size_t>(place - points.begin())];
}

void Buffer::move_to(Points wanted) {
  std::vector<Cell> moved(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (const Cell* cell = find(wanted[i])) moved[i] = *cell;
  points = std::move(wanted);
  cells = std::move(moved);
}

}  // namespace sluice::sim
