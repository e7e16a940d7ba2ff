#include "block_loops.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::kapla {

std::optional<CoverMistake> check_cover(std::vector<BlockLoop>& loops, std::int64_t inside,
                                        std::int64_t outside, const std::string& dim,
                                        DirectivePlace place) {
  std::int64_t stacked = inside;
  for (const BlockLoop& loop : loops)
    if (loop.is_stack) stacked += loop.tile * (loop.count - 1);
  if (stacked >= outside) std::erase_if(loops, [](const BlockLoop& l) { return !l.is_stack; });
  std::erase_if(loops, [&](const BlockLoop& l) { return l.tile >= outside; });
  std::stable_sort(loops.begin(), loops.end(),
                   [](const BlockLoop& a, const BlockLoop& b) { return a.tile < b.tile; });
  std::int64_t covered = inside;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const BlockLoop& loop = loops[i];
    if (loop.tile != covered)
      return CoverMistake{
          loop.place,
          fmt::format("{} += {} {} boxes of {}", dim, loop.tile,
                      loop.tile < covered ? "overlaps" : "leaves gaps between", covered)};
    const std::int64_t next = i + 1 < loops.size() ? loops[i + 1].tile : outside;
    covered = loop.is_stack ? std::min(loop.tile * loop.count, outside) : next;
  }
  if (covered < outside)
    return CoverMistake{loops.empty() ? place : loops.back().place,
                        fmt::format("{} of {} = {} are covered", covered, dim, outside)};
  return std::nullopt;
}

}  // namespace sluice::kapla
