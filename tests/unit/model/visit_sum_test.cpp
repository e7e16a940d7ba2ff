// The closed forms against a walk through every loop, on random nests of imperfect loops.
#include "model/visits/visit_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/visits/padding.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

using Random = std::mt19937_64;

struct RandomNest {
  std::vector<VariableRange> ranges;
  std::vector<NestLoop> loops;
  std::vector<LoopEffect> effects;
  BoundAccess access;
  std::vector<std::int64_t> rank_sizes;
};

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Two or three variables; T[a·x + y + c, z]; up to three loops a variable with any tile.
RandomNest random_nest(Random& random) {
  RandomNest nest;
  const auto n_variables = static_cast<std::size_t>(draw(random, 2, 3));
  std::vector<std::int64_t> tile;
  for (std::size_t v = 0; v < n_variables; ++v) {
    nest.ranges.push_back({RankVariableId(v), 0, draw(random, 1, 9)});
    tile.push_back(nest.ranges[v].size);
  }
  for (std::int64_t n = draw(random, 1, 5); n > 0; --n) {
    NestLoop loop;
    loop.variable = static_cast<int>(draw(random, 0, static_cast<std::int64_t>(n_variables) - 1));
    std::int64_t& current = tile[static_cast<std::size_t>(loop.variable)];
    loop.tile = draw(random, 1, current);
    current = loop.tile;
    nest.loops.push_back(loop);
    nest.effects.push_back(draw(random, 0, 4) == 0 ? LoopEffect::kOnce : LoopEffect::kEvery);
  }
  nest.access.index = {{{{0, draw(random, 1, 2)}, {1, 1}}, draw(random, -1, 1), 0}};
  if (n_variables == 3) nest.access.index.push_back({{{2, 1}}, 0, 0});
  nest.access.relevance.assign(n_variables, Relevance::kPartial);
  for (std::size_t r = 0; r < nest.access.index.size(); ++r)
    nest.rank_sizes.push_back(draw(random, 1, 12));
  return nest;
}

struct Walked {
  std::int64_t volume = 0;
  std::int64_t inside = 0;
};

/// Visits every step of the loops from `l` inwards with the given intervals of the variables.
void walk(const RandomNest& nest, std::size_t l, std::vector<std::int64_t> offset,
          std::vector<std::int64_t> size, Walked& walked) {
  if (l == nest.loops.size()) {
    std::int64_t volume = 1, inside = 1;
    for (std::size_t r = 0; r < nest.access.index.size(); ++r) {
      std::int64_t low = nest.access.index[r].constant, high = low;
      for (const BoundTerm& term : nest.access.index[r].terms) {
        const auto v = static_cast<std::size_t>(term.variable);
        low += term.coefficient * offset[v];
        high += term.coefficient * (offset[v] + size[v] - 1);
      }
      volume *= high - low + 1;
      std::int64_t part = 0;
      for (std::int64_t i = low; i <= high; ++i) part += i >= 0 && i < nest.rank_sizes[r];
      inside *= part;
    }
    walked.volume += volume;
    walked.inside += inside;
    return;
  }
  const auto v = static_cast<std::size_t>(nest.loops[l].variable);
  const std::int64_t start = offset[v], extent = size[v];
  for (std::int64_t done = 0; done < extent; done += nest.loops[l].tile) {
    offset[v] = start + done;
    size[v] = std::min(nest.loops[l].tile, extent - done);
    walk(nest, l + 1, offset, size, walked);
    if (nest.effects[l] == LoopEffect::kOnce) break;
  }
}

TEST(VisitSum, EqualsAWalkThroughEveryStepOfRandomNests) {
  const testing::RandomCases cases = testing::random_cases(2000);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    Random random(seed);
    const RandomNest nest = random_nest(random);
    std::vector<std::int64_t> offset(nest.ranges.size(), 0), size;
    for (const VariableRange& range : nest.ranges) size.push_back(range.size);
    Walked walked;
    walk(nest, 0, offset, size, walked);
    const int n_loops = static_cast<int>(nest.loops.size());
    ASSERT_EQ(visit_sum(nest.loops.data(), nest.effects.data(), n_loops, nest.access, nest.ranges),
              walked.volume)
        << "seed " << seed;
    ASSERT_EQ(visit_sum_inside(nest.loops.data(), nest.effects.data(), n_loops, nest.access,
                               nest.ranges, nest.rank_sizes),
              walked.inside)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice
