#include "spatial_choices.h"

#include <algorithm>
#include <map>

#include "mapper/shape/trip_choices.h"

namespace sluice::fused {

std::vector<FanoutDimension> fanouts_of(const BoundEinsum& bound) {
  std::vector<FanoutDimension> result;
  for (std::size_t c = 0; c < bound.components.size(); ++c)
    for (std::uint32_t d = 0; d < bound.components[c].spatial.size(); ++d)
      result.push_back({ComponentId(c), d, bound.components[c].spatial[d].fanout});
  return result;
}

std::size_t fanout_of(const ClassLoop& loop, const std::vector<FanoutDimension>& fanouts) {
  const auto is_own = [&](const FanoutDimension& fanout) {
    return fanout.component == loop.component && fanout.dimension == loop.dimension;
  };
  const auto at = std::find_if(fanouts.begin(), fanouts.end(), is_own);
  return static_cast<std::size_t>(at - fanouts.begin());
}

SpatialChoices spatial_choices(const StateTrie& trie, const ClassStates& states,
                               const std::vector<ClassLoop>& loops,
                               const std::vector<std::uint32_t>& order,
                               const std::vector<FanoutDimension>& fanouts) {
  SpatialChoices result{{0}, {}};
  std::size_t depth = 0;
  for (; depth < order.size() && loops[order[depth]].spatial; ++depth) {
    std::vector<std::uint32_t> below;
    for (const std::uint32_t node : result.nodes)
      for (std::uint32_t c = 0; c < trie.nodes()[node].n; ++c)
        below.push_back(trie.nodes()[node].first + c);
    result.nodes = std::move(below);
  }
  for (const std::uint32_t node : result.nodes) {
    std::vector<std::int64_t> use(fanouts.size(), 1);
    for (std::size_t d = 0; d < depth; ++d)
      if (const std::size_t f = fanout_of(loops[order[d]], fanouts); f < fanouts.size())
        use[f] *= trip_count(states.trips(trie.nodes()[node].state, order[d]));
    result.use.insert(result.use.end(), use.begin(), use.end());
  }
  return result;
}

bool are_at_most(double most, const std::vector<SpatialChoices>& classes,
                 const std::vector<FanoutDimension>& fanouts) {
  const std::size_t n = fanouts.size();
  std::map<std::vector<std::int64_t>, double> counts{{std::vector<std::int64_t>(n, 1), 1.0}};
  for (const SpatialChoices& cls : classes) {
    std::map<std::vector<std::int64_t>, double> next;
    double all = 0;
    for (const auto& [used, count] : counts) {
      for (std::size_t i = 0; i < cls.nodes.size(); ++i) {
        std::vector<std::int64_t> both(used);
        bool fits = true;
        for (std::size_t f = 0; f < n; ++f)
          fits = (both[f] *= cls.use[i * n + f]) <= fanouts[f].instances && fits;
        if (!fits) continue;
        next[std::move(both)] += count;
        if ((all += count) > most) return false;
      }
    }
    counts = std::move(next);
  }
  return true;
}

}  // namespace sluice::fused
