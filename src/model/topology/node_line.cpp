#include "model/topology/node_line.h"

#include <algorithm>
#include <cstdlib>

#include "sluice/support/checked.h"

namespace sluice {

std::int64_t NodeLine::product(bool distinct) const {
  std::int64_t result = 1;
  for (const RouteLoop& loop : loops)
    if (loop.distinct == distinct) result = checked_multiply(result, loop.trips);
  return result;
}

std::vector<std::int64_t> NodeLine::offsets(bool distinct) const {
  std::vector<std::int64_t> result = {distinct ? base : 0};
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (loops[l].distinct != distinct) continue;
    std::vector<std::int64_t> next;
    for (std::int64_t offset : result)
      for (std::int64_t i = 0; i < loops[l].trips; ++i) next.push_back(offset + i * strides[l]);
    result = std::move(next);
  }
  return result;
}

LineRoutes along_row(const NodeLine& line, bool closed) {
  LineRoutes result;
  result.loads = {0, 0};
  const std::vector<std::int64_t> members = line.offsets(false);
  for (std::int64_t base : line.offsets(true)) {
    std::int64_t forward = 0, backward = 0;  // twice the hops
    for (std::int64_t member : members) {
      const std::int64_t node = base + member;
      if (closed && node > line.length / 2)
        backward = std::max(backward, 2 * (line.length - node));
      else
        forward = std::max(forward, 2 * node - line.doubled_entry);
      backward = std::max(backward, line.doubled_entry - 2 * node);
    }
    result.half_hops += forward + backward;
    result.longest = std::max({result.longest, (forward + 1) / 2, (backward + 1) / 2});
    result.loads[0] += forward > 0 ? 1 : 0;
    result.loads[1] += backward > 0 ? 1 : 0;
  }
  return result;
}

std::int64_t hops_around(std::int64_t from, std::int64_t to, std::int64_t length) {
  const std::int64_t ahead = std::abs(to - from);
  return std::min(ahead, length - ahead);
}

void walk_links(const Coordinates& fanouts, bool closed, Coordinates from, const Coordinates& to,
                std::vector<std::int64_t>& links) {
  const auto n_dimensions = static_cast<std::int64_t>(fanouts.size());
  for (std::size_t d = 0; d < fanouts.size(); ++d) {
    const std::int64_t length = fanouts[d];
    const std::int64_t ahead = (to[d] - from[d] + length) % length;
    const bool forward = closed ? 2 * ahead <= length : to[d] > from[d];
    while (from[d] != to[d]) {
      const std::int64_t node = number_in_row(fanouts, from);
      links.push_back((node * n_dimensions + static_cast<std::int64_t>(d)) * 2 + (forward ? 0 : 1));
      from[d] = (from[d] + (forward ? 1 : length - 1)) % length;
    }
  }
}

std::int64_t number_in_row(const Coordinates& fanouts, const Coordinates& node) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d) number = number * fanouts[d] + node[d];
  return number;
}

}  // namespace sluice
