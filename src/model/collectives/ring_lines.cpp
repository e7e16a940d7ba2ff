#include "model/collectives/ring_lines.h"

#include "sluice/support/checked.h"

namespace sluice {
namespace {

using Arrival = CollectiveTally::Arrival;

/// Position `i` of a ring of `n`, for any i.
std::size_t around(std::int64_t i, std::int64_t n) {
  return static_cast<std::size_t>((i % n + n) % n);
}

std::int64_t length_of(const std::vector<RingLine>& lines) {
  return static_cast<std::int64_t>(lines.front().ranks.size());
}

/// Blocks of the members `from` … n − 1 places after `start`.
std::int64_t blocks_from(const RingLine& line, std::int64_t start, std::int64_t from) {
  const auto n = static_cast<std::int64_t>(line.ranks.size());
  std::int64_t sum = 0;
  for (std::int64_t i = from; i < n; ++i) sum += line.blocks[around(start + i, n)];
  return sum;
}

/// In step s everyone passes on the block of the member `lag` + s places before it.
void rotate(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t lag,
            Arrival arrival) {
  const std::int64_t n = length_of(lines);
  for (std::int64_t step = 0; step < n - 1; ++step) {
    for (const RingLine& line : lines)
      for (std::int64_t i = 0; i < n; ++i)
        tally.send(line.ranks[around(i, n)], line.ranks[around(i + 1, n)],
                   line.blocks[around(i - lag - step, n)], arrival);
    tally.end_step();
  }
}

/// In step s the member s − 1 places after the root passes `values(line, s)` on.
template <class Values>
void send_from_root(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root,
                    const Values& values) {
  const std::int64_t n = length_of(lines);
  for (std::int64_t step = 1; step < n; ++step) {
    for (const RingLine& line : lines)
      if (line.is_on_roots_way)
        tally.send(line.ranks[around(root + step - 1, n)], line.ranks[around(root + step, n)],
                   values(line, step));
    tally.end_step();
  }
}

}  // namespace

void ring_reduce_scatter(CollectiveTally& tally, const std::vector<RingLine>& lines) {
  rotate(tally, lines, 1, Arrival::kCombined);
}

void ring_all_gather(CollectiveTally& tally, const std::vector<RingLine>& lines) {
  rotate(tally, lines, 0, Arrival::kStored);
}

void ring_all_to_all(CollectiveTally& tally, const std::vector<RingLine>& lines,
                     std::int64_t vectors) {
  const std::int64_t n = length_of(lines);
  for (std::int64_t step = 1; step < n; ++step) {
    for (const RingLine& line : lines)
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t origin = i - (step - 1);
        tally.send(line.ranks[around(i, n)], line.ranks[around(i + 1, n)],
                   checked_multiply(vectors, blocks_from(line, origin, step)));
      }
    tally.end_step();
  }
}

void ring_broadcast(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root) {
  send_from_root(tally, lines, root,
                 [&](const RingLine&, std::int64_t) { return tally.request().values; });
}

void ring_scatter(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root) {
  send_from_root(tally, lines, root, [&](const RingLine& line, std::int64_t step) {
    return blocks_from(line, root, step);
  });
}

void ring_gather(CollectiveTally& tally, const std::vector<RingLine>& lines, std::int64_t root) {
  const std::int64_t n = length_of(lines);
  for (std::int64_t step = n - 1; step >= 1; --step) {
    for (const RingLine& line : lines)
      if (line.is_on_roots_way)
        tally.send(line.ranks[around(root + step, n)], line.ranks[around(root + step - 1, n)],
                   blocks_from(line, root, step));
    tally.end_step();
  }
}

}  // namespace sluice
