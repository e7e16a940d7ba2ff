#pragma once

#include <cstdint>
#include <vector>

#include "sluice/model/collective_algorithm.h"

namespace sluice {

/// Rings of equal length that work at the same time: each member's neighbour is the next one, the
/// last one's the first. `blocks[i]` of a line: values that are the business of its member i.
struct RingLine {
  std::vector<std::int64_t> ranks;
  std::vector<std::int64_t> blocks;
  /// Rooted collectives: whether its member at the root's position has or gets anything.
  bool is_on_roots_way = true;
};

/// length − 1 steps; in each, everyone passes one block of partial sums on.
void ring_reduce_scatter(CollectiveTally& tally, const std::vector<RingLine>& lines);
/// length − 1 steps; in each, everyone passes on the block it got in the last one.
void ring_all_gather(CollectiveTally& tally, const std::vector<RingLine>& lines);
/// Step s: everyone passes on what has further to go than s − 1 members. `vectors`: how many each
/// holds, all with the same blocks.
void ring_all_to_all(CollectiveTally& tally, const std::vector<RingLine>& lines,
                     std::int64_t vectors);
/// The whole vector from member to member, from position `root` round.
void ring_broadcast(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root);
/// What belongs to members further on, from member to member.
void ring_scatter(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root);
/// The way back of a scatter.
void ring_gather(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root);

}  // namespace sluice
