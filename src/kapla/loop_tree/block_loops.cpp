#include "block_loops.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::kapla {

std::vector<bool> nest_order(const std::vector<BlockLoop>& updates,
                             const std::vector<BlockLoop>& stacks) {
  std::vector<bool> is_stack;
  std::size_t next = 0;
  for (const BlockLoop& update : updates) {
    std::size_t needed = next;
    for (std::size_t s = next; s < stacks.size(); ++s)
      if (stacks[s].variable == update.variable && stacks[s].tile > update.tile) needed = s + 1;
    is_stack.insert(is_stack.end(), needed - next, true);
    is_stack.push_back(false);
    next = needed;
  }
  is_stack.insert(is_stack.end(), stacks.size() - next, true);
  return is_stack;
}

std::optional<CoverMistake> check_cover(std::vector<BlockLoop>& loops, std::int64_t inside,
                                        std::int64_t outside, const std::string& dim,
                                        DirectivePlace place) {
  std::stable_sort(loops.begin(), loops.end(),
                   [](const BlockLoop& a, const BlockLoop& b) { return a.tile < b.tile; });
  std::int64_t stacked = inside;  // by stacks alone
  for (const BlockLoop& loop : loops)
    if (loop.is_stack && loop.tile == stacked) stacked *= loop.count;
  if (stacked >= outside) std::erase_if(loops, [](const BlockLoop& l) { return !l.is_stack; });
  for (const BlockLoop& loop : loops)
    if (loop.is_stack && loop.tile * (loop.count - 1) >= outside)
      return CoverMistake{
          loop.place, fmt::format("{} = {} fills {} of the {} buffers of this stack", dim, outside,
                                  (outside + loop.tile - 1) / loop.tile, loop.count)};
  std::erase_if(loops, [&](const BlockLoop& l) { return l.tile >= outside; });
  std::int64_t covered = inside;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const BlockLoop& loop = loops[i];
    if (loop.tile != covered)
      return CoverMistake{
          loop.place,
          fmt::format("{} += {} {} boxes of {}", dim, loop.tile,
                      loop.tile < covered ? "overlaps" : "leaves gaps between", covered)};
    const std::int64_t next = i + 1 < loops.size() ? loops[i + 1].tile : outside;
    // The last buffer may have less, where the box around it ends.
    const bool is_clipped = loop.is_stack && loop.tile * (loop.count - 1) < next;
    covered = loop.is_stack ? loop.tile * loop.count : next;
    if (is_clipped || next == outside) covered = std::min(covered, next);
  }
  if (covered < outside)
    return CoverMistake{loops.empty() ? place : loops.back().place,
                        fmt::format("{} of {} = {} are covered", covered, dim, outside)};
  return std::nullopt;
}

}  // namespace sluice::kapla
