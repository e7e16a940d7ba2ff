#include "model/price/overlap.h"

#include <algorithm>

#include "model/tree/regions.h"

namespace sluice {
namespace {

double latency_of(const Arch& arch, const FlatTree& tree, const std::vector<NestTime>& times,
                  int begin, int end, int depth) {
  double latency_s = 0;
  for (int n = begin; n < end;) {
    const ConcurrentSplit* split = tree.concurrent_split_at(n, depth);
    if (!split) {
      latency_s += times[static_cast<std::size_t>(n++)].latency_s;
      continue;
    }
    double longest_s = 0, sum_s = 0, busiest_s = 0;
    for (std::size_t c = 0; c < split->stages.size(); ++c) {
      const double child_s =
          latency_of(arch, tree, times, split->stages[c], split->stage_end(c), depth + 1);
      longest_s = std::max(longest_s, child_s);
      sum_s += child_s;
    }
    for (std::size_t c = 0; c < times.front().busy_s.size(); ++c)
      busiest_s = std::max(busiest_s,
                           busy_seconds(arch, tree, times, n, split->end, depth, ComponentId(c)));
    latency_s += split->runs_side_by_side() ? std::max(longest_s, busiest_s) : sum_s;
    n = split->end;
  }
  return latency_s;
}

}  // namespace

double busy_seconds(const Arch& arch, const FlatTree& tree, const std::vector<NestTime>& times,
                    int begin, int end, int depth, ComponentId component) {
  double busy_s = 0;
  for (int n = begin; n < end;) {
    const ConcurrentSplit* split =
        tree.regions.empty() ? nullptr : tree.concurrent_split_at(n, depth);
    if (!split) {
      busy_s += times[static_cast<std::size_t>(n++)].busy_s[component.index()];
      continue;
    }
    double children_s = 0;
    const bool divided = is_divided(arch, *split, component);
    for (std::size_t s = 0; s < split->stages.size(); ++s) {
      const double child_s = busy_seconds(arch, tree, times, split->stages[s], split->stage_end(s),
                                          depth + 1, component);
      children_s = divided ? std::max(children_s, child_s) : children_s + child_s;
    }
    busy_s += children_s;
    n = split->end;
  }
  return busy_s;
}

double concurrent_latency(const Arch& arch, const FlatTree& tree,
                          const std::vector<NestTime>& times) {
  return latency_of(arch, tree, times, 0, static_cast<int>(times.size()), 0);
}

}  // namespace sluice
