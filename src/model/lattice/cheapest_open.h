#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "sluice/model/einsum_chains.h"

namespace sluice {

/// The cheapest spreads that are not refined and cost less than `limit`, so many of them, cheapest
/// first. `price(spread)`: what it costs at least. `split(group)`: is asked for each group that
/// comes before them; its parts, if it has any then, are looked at, too; false: enough.
template <class Price, class Split>
std::vector<std::size_t> cheapest_open(const EinsumChains& chains, std::size_t most, double limit,
                                       const Price& price, const Split& split) {
  using Open = std::pair<double, std::size_t>;  // price, spread
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::size_t n_known = 0;
  std::vector<std::size_t> found;
  while (found.size() < most) {
    for (; n_known < chains.spreads().size(); ++n_known)
      if (!chains.spreads()[n_known].is_refined)
        if (const double own = price(n_known); own < limit) open.emplace(own, n_known);
    if (open.empty()) break;
    const std::size_t s = open.top().second;
    open.pop();
    if (!chains.spreads()[s].is_group)
      found.push_back(s);
    else if (!split(s))
      break;
  }
  return found;
}

/// The least price of those that are refined; infinite: none is.
template <class Price>
double cheapest_refined(const EinsumChains& chains, const Price& price) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < chains.spreads().size(); ++s)
    if (chains.spreads()[s].is_refined) least = std::min(least, price(s));
  return least;
}

}  // namespace sluice
