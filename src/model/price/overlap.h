#pragma once

#include <vector>

#include "model/tree/nest.h"

namespace sluice {

/// One Einsum's time under `overlap`, and what each component is busy meanwhile, seconds.
struct NestTime {
  double latency_s = 0;
  std::vector<double> busy_s;  ///< per ComponentId
};

/// Latency under `overlap` of a tree with pipelined or parallel splits: children of other splits
/// follow each other; of these, the slowest child, or the component that all of them together keep
/// busy longest.
double concurrent_latency(const Arch& arch, const FlatTree& tree,
                          const std::vector<NestTime>& times);

/// What a component is busy while nests [begin, end), below `depth` concurrent splits, run: of a
/// split that shares out its instances among its children, the most of any of them.
double busy_seconds(const Arch& arch, const FlatTree& tree, const std::vector<NestTime>& times,
                    int begin, int end, int depth, ComponentId component);

}  // namespace sluice
