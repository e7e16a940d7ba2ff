// What instances see of an output with windows, against a walk through every loop that notes every
// value, on random nests of loops that do not divide.
#include "model/visits/first_sights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

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

/// D[a·p + b·r + c] or D[p, a·p + b·r + c], with a rank of c alone or without.
void draw_access(Random& random, RandomNest& nest) {
  nest.access.is_output = true;
  nest.access.relevance = {Relevance::kPartial, Relevance::kPartial, Relevance::kIrrelevant};
  const std::int64_t a = draw(random, 0, 1) == 0 ? draw(random, 1, 3) : draw(random, -2, -1);
  nest.access.index = {{{{0, a}, {1, draw(random, 1, 2)}}, draw(random, -2, 1), 0}};
  if (draw(random, 0, 2) == 0) nest.access.index.push_back({{{0, 1}}, 0, 0});
  if (draw(random, 0, 1) == 0) {
    nest.access.index.push_back({{{2, 1}}, 0, 0});
    nest.access.relevance[2] = Relevance::kRelevant;
  }
  for (std::size_t r = 0; r < nest.access.index.size(); ++r)
    nest.rank_sizes.push_back(draw(random, 1, 9));
}

RandomNest random_nest(Random& random) {
  RandomNest nest;
  std::vector<std::int64_t> tile;
  for (std::size_t v = 0; v < 3; ++v) {
    nest.ranges.push_back({RankVariableId(v), 0, draw(random, 1, 7)});
    tile.push_back(nest.ranges[v].size);
  }
  draw_access(random, nest);
  for (std::int64_t n = draw(random, 1, 5); n > 0; --n) {
    NestLoop loop;
    loop.variable = static_cast<int>(draw(random, 0, 2));
    loop.spatial = draw(random, 0, 2) == 0;
    std::int64_t& current = tile[static_cast<std::size_t>(loop.variable)];
    loop.enclosing = current;
    loop.tile = draw(random, 1, current);
    loop.trips = (current + loop.tile - 1) / loop.tile;
    current = loop.tile;
    const Relevance seen = nest.access.relevance[static_cast<std::size_t>(loop.variable)];
    nest.effects.push_back(loop.spatial || seen == Relevance::kRelevant ? LoopEffect::kEvery
                           : seen == Relevance::kPartial                ? LoopEffect::kUnited
                                                                        : LoopEffect::kOnce);
    nest.loops.push_back(loop);
  }
  return nest;
}

using Element = std::vector<std::int64_t>;

/// Every visit of every instance, tile by tile.
class Walk {
 public:
  explicit Walk(const RandomNest& nest) : nest_(nest) {
    for (const VariableRange& range : nest.ranges) {
      offset_.push_back(0);
      size_.push_back(range.size);
    }
    step(0);
  }

  std::int64_t seen(bool inside) const {
    std::int64_t count = 0;
    for (const auto& [instance, elements] : seen_)
      count += std::count_if(elements.begin(), elements.end(), [&](const Element& element) {
        for (std::size_t r = 0; r < element.size(); ++r)
          if (inside && (element[r] < 0 || element[r] >= nest_.rank_sizes[r])) return false;
        return true;
      });
    return count;
  }

 private:
  void step(std::size_t l) {
    if (l == nest_.loops.size()) return note(0, {});
    const auto v = static_cast<std::size_t>(nest_.loops[l].variable);
    const std::int64_t start = offset_[v], extent = size_[v];
    std::int64_t turn = 0;
    for (std::int64_t done = 0; done < extent; done += nest_.loops[l].tile, ++turn) {
      offset_[v] = start + done;
      size_[v] = std::min(nest_.loops[l].tile, extent - done);
      if (nest_.loops[l].spatial) instance_.push_back(turn);
      step(l + 1);
      if (nest_.loops[l].spatial) instance_.pop_back();
    }
    offset_[v] = start;
    size_[v] = extent;
  }

  void note(std::size_t rank, const Element& element) {
    if (rank == nest_.access.index.size()) {
      seen_[instance_].insert(element);
      return;
    }
    std::int64_t low = nest_.access.index[rank].constant, high = low;
    for (const BoundTerm& term : nest_.access.index[rank].terms) {
      const auto v = static_cast<std::size_t>(term.variable);
      const std::int64_t a = term.coefficient * offset_[v];
      const std::int64_t b = term.coefficient * (offset_[v] + size_[v] - 1);
      low += std::min(a, b);
      high += std::max(a, b);
    }
    for (std::int64_t i = low; i <= high; ++i) {
      Element longer = element;
      longer.push_back(i);
      note(rank + 1, longer);
    }
  }

  const RandomNest& nest_;
  std::vector<std::int64_t> offset_, size_, instance_;
  std::map<std::vector<std::int64_t>, std::set<Element>> seen_;
};

TEST(FirstSights, EqualAWalkThroughEveryTileOfRandomNests) {
  const testing::RandomCases cases = testing::random_cases(2000);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    Random random(seed);
    const RandomNest nest = random_nest(random);
    const Walk walk(nest);
    const int n_loops = static_cast<int>(nest.loops.size());
    ASSERT_EQ(
        first_sights(nest.loops.data(), nest.effects.data(), n_loops, nest.access, nest.ranges),
        walk.seen(false))
        << "seed " << seed;
    ASSERT_EQ(first_sights_inside(nest.loops.data(), nest.effects.data(), n_loops, nest.access,
                                  nest.ranges, nest.rank_sizes),
              walk.seen(true))
        << "seed " << seed;
  }
}

// D[2p+r], p 0..3 then r 0..2, one at a time. Row by row new are 0, 1, 2; 3, 4; 5, 6; 7, 8: of 12
// visits 9 see a new value. With two p a tile (3 values, r moves them by 1): 0..2 and 4..6 (r 0 of
// both halves) are new as a whole where r runs outside; where it runs inside, 0..2 and no other:
// 4..6 shares 4 with 2..4.
TEST(FirstSights, VisitsOfNewTilesDependOnTheOrderOfTheLoops) {
  BoundAccess access;
  access.is_output = true;
  access.relevance = {Relevance::kPartial, Relevance::kPartial};
  access.index = {{{{0, 2}, {1, 1}}, 0, 0}};
  const std::vector<VariableRange> ranges = {{RankVariableId(0), 0, 4}, {RankVariableId(1), 0, 3}};
  const auto loop = [](int variable, std::int64_t tile, std::int64_t size) {
    NestLoop made;
    made.variable = variable;
    made.tile = tile;
    made.enclosing = size;
    made.trips = size / tile;
    return made;
  };
  const auto visits = [&](const std::vector<NestLoop>& loops) {
    const std::vector<LoopEffect> effects(loops.size(), LoopEffect::kUnited);
    return visits_of_new_tiles(loops.data(), effects.data(), static_cast<int>(loops.size()), access,
                               ranges);
  };
  EXPECT_EQ(visits({loop(0, 1, 4), loop(1, 1, 3)}), 9);
  EXPECT_EQ(visits({loop(1, 1, 3), loop(0, 2, 4)}), 2);
  EXPECT_EQ(visits({loop(0, 2, 4), loop(1, 1, 3)}), 1);
}

}  // namespace
}  // namespace sluice
