#include "region.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace sluice::kapla {

std::int64_t distance(const Node& a, const Node& b) {
  return std::abs(a.h - b.h) + std::abs(a.w - b.w);
}

Node Region::at(const Node& inside) const {
  const std::int64_t along = inside.w + turn_width - std::abs(before_turn);
  const std::int64_t turns = along / turn_width;
  const bool to_the_right = (before_turn > 0) == (turns % 2 == 0);
  const std::int64_t step = along % turn_width;
  const std::int64_t column = to_the_right ? step : turn_width - 1 - step;
  const std::int64_t first_column = before_turn > 0 ? turn_width - before_turn : -before_turn - 1;
  return {origin.h + (turns * dim.h + inside.h) * spacing.h,
          origin.w + (column - first_column) * spacing.w};
}

Region whole_grid(const Extent& grid) {
  return {Region::Kind::kNodes, grid, {0, 0}, {1, 1}, grid.w, grid.w};
}

Region corner_ports(const Extent& grid) {
  return {Region::Kind::kDram, {2, 2}, {0, 0}, {grid.h - 1, grid.w - 1}, 2, 2};
}

std::vector<Node> nodes_of(const Region& region) {
  std::vector<Node> nodes;
  for (std::int64_t h = 0; h < region.dim.h; ++h)
    for (std::int64_t w = 0; w < region.dim.w; ++w) nodes.push_back(region.at({h, w}));
  return nodes;
}

std::vector<Region> stripes(const Extent& grid, const std::vector<std::int64_t>& sizes) {
  std::int64_t needed = 0;
  std::int64_t stripe = grid.h;
  for (const std::int64_t size : sizes) {
    if (size > grid.size() - needed) return {};
    needed += size;
    stripe = std::gcd(stripe, size);
  }
  std::vector<Region> regions;
  Node next{0, 0};
  bool to_the_right = true;
  for (const std::int64_t size : sizes) {
    const std::int64_t width = size / stripe;
    const std::int64_t before_turn = std::min(grid.w - next.w, width);
    const Node origin{next.h, to_the_right ? next.w : grid.w - next.w - 1};
    regions.push_back({Region::Kind::kNodes,
                       {stripe, width},
                       origin,
                       {1, 1},
                       grid.w,
                       to_the_right ? before_turn : -before_turn});
    for (next.w += width; next.w >= grid.w; next.w -= grid.w) {
      next.h += stripe;
      to_the_right = !to_the_right;
    }
  }
  return regions;
}

}  // namespace sluice::kapla
