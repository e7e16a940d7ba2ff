#include "trip_choices.h"

#include <functional>
#include <set>

namespace sluice::fused {
namespace {

std::vector<std::int64_t> find_divisors(std::int64_t n) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d * d != n) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

}  // namespace

std::vector<std::int64_t> imperfect_tiles(std::int64_t size) {
  std::set<std::int64_t, std::greater<>> tiles;
  for (std::int64_t inner : find_divisors(size)) {
    const std::int64_t parts = size / inner;
    for (std::int64_t steps = 2; steps < parts;) {
      const std::int64_t most = (parts + steps - 1) / steps;
      if (most == 1) break;
      if (size % (most * inner) != 0) tiles.insert(most * inner);
      steps = (parts - 1) / (most - 1) + 1;  // the first with fewer parts at most
    }
  }
  return {tiles.begin(), tiles.end()};
}

const std::vector<std::int64_t>& TripChoices::divisors_of(std::int64_t n) {
  std::vector<std::int64_t>& known = divisors_[n];
  if (known.empty()) known = find_divisors(n);
  return known;
}

const std::vector<std::int64_t>& TripChoices::of(std::int64_t size, std::int64_t rest,
                                                 bool imperfect) {
  if (size % rest != 0) {  // below an imperfect loop
    std::vector<std::int64_t>& known = inside_[{size, rest}];
    if (known.empty())
      for (std::int64_t d : divisors_of(rest))
        if (d == 1 || size % (rest / d) == 0) known.push_back(d);
    return known;
  }
  if (!imperfect || rest != size || size > kLargestImperfect) return divisors_of(rest);
  std::vector<std::int64_t>& known = outermost_[size];
  if (known.empty()) {
    known = divisors_of(size);
    for (std::int64_t tile : imperfect_tiles(size)) known.push_back(imperfect_trips(size, tile));
  }
  return known;
}

}  // namespace sluice::fused
