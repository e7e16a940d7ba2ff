// A tile pipeline whose loops go on as they do, against one that walks all of their steps.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "model/latency/tile_pipeline.h"

namespace sluice {
namespace {

/// A loop nest: each tile changes where the loops from some depth on begin anew.
struct DrawnNest {
  std::vector<std::int64_t> trips;
  struct Tile {
    std::size_t depth;
    double fill_s, drain_s;
  };
  std::vector<Tile> tiles;
  double compute_s = 0;
  TileBuffers buffers{};

  TileStep step(const std::vector<std::int64_t>& at) const {
    TileStep step;
    step.compute_s = compute_s;
    for (const Tile& tile : tiles) {
      bool starts = true, ends = true;
      for (std::size_t l = tile.depth; l < trips.size(); ++l) {
        starts = starts && at[l] == 0;
        ends = ends && at[l] + 1 == trips[l];
      }
      if (starts && tile.fill_s > 0) step.fills_s.push_back(tile.fill_s);
      if (ends) step.drain_s += tile.drain_s;
    }
    return step;
  }
};

class NestWalk {
 public:
  NestWalk(const DrawnNest& nest, bool repeats)
      : nest_(nest), repeats_(repeats), pipeline_(nest.buffers), at_(nest.trips.size(), 0) {}

  TilePipeline run() {
    walk(0);
    return pipeline_;
  }
  std::int64_t n_walked() const { return n_walked_; }

 private:
  void walk(std::size_t depth) {
    if (depth == at_.size()) {
      pipeline_.add(nest_.step(at_));
      ++n_walked_;
      return;
    }
    const std::int64_t n = nest_.trips[depth];
    for (std::int64_t i = 0; i < n; ++i) {
      if (repeats_) pipeline_.count_from_now();
      const TilePipeline before = pipeline_;
      at_[depth] = i;
      walk(depth + 1);
      if (!repeats_ || i < 2 || i >= n - 2 || !pipeline_.stands_as(before)) continue;
      pipeline_.repeat_since(before, static_cast<double>(n - 2 - i));
      i = n - 2;
    }
  }

  const DrawnNest& nest_;
  bool repeats_;
  TilePipeline pipeline_;
  std::vector<std::int64_t> at_;
  std::int64_t n_walked_ = 0;
};

DrawnNest drawn_nest(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto time = [&] { return 1e-9 * (1 + below(4) + (below(2) == 0 ? 0 : below(100) / 97.0)); };
  DrawnNest nest;
  for (int l = 2 + below(3); l > 0; --l) nest.trips.push_back(1 + below(12));
  for (int t = 1 + below(3); t > 0; --t) {
    const auto depth = static_cast<std::size_t>(below(static_cast<int>(nest.trips.size()) + 1));
    const bool is_output = below(3) == 0;
    nest.tiles.push_back({depth, is_output && below(2) == 0 ? 0 : time() * (1 + below(6)),
                          is_output ? time() * (1 + below(6)) : 0});
  }
  nest.compute_s = below(10) == 0 ? 0 : time();
  nest.buffers = {1 + below(4), below(2) == 0, below(2) == 0};
  return nest;
}

TEST(RepeatedSteps, TakeAsLongAsAllOfThem) {
  std::mt19937_64 random(7);
  std::int64_t walked = 0, all = 0;
  for (int i = 0; i < 1000; ++i) {
    const DrawnNest nest = drawn_nest(random);
    NestWalk step_by_step(nest, false), repeated(nest, true);
    const TilePipeline expected = step_by_step.run(), found = repeated.run();
    const PipelineTimes a = expected.times(), b = found.times();
    const double rounding = 1e-9 * expected.end_s();
    ASSERT_NEAR(b.fill_s, a.fill_s, rounding) << i;
    ASSERT_NEAR(b.compute_s, a.compute_s, rounding) << i;
    ASSERT_NEAR(b.stall_s, a.stall_s, rounding) << i;
    ASSERT_NEAR(b.drain_s, a.drain_s, rounding) << i;
    ASSERT_NEAR(found.end_s(), expected.end_s(), rounding) << i;
    walked += repeated.n_walked();
    all += step_by_step.n_walked();
  }
  EXPECT_LT(walked, all / 2);
}

}  // namespace
}  // namespace sluice
