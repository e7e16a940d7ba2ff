#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "model/latency/tile_pipeline.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

/// `n` steps of one fill, with a drain after every `per_output`th.
TilePipeline run(TileBuffers buffers, int n, int per_output, double fill, double compute,
                 double drain) {
  TilePipeline pipeline(buffers);
  for (int i = 1; i <= n; ++i) pipeline.add({{fill}, compute, i % per_output == 0 ? drain : 0});
  return pipeline;
}

constexpr TileBuffers kDouble{2, true, false}, kSingle{1, false, false};

// Fills 10 each in a row: 40; the last step's compute 3 and drain 5 follow.
TEST(TilePipeline, IsAsFastAsItsFillsWhereTheyAreLongest) {
  const TilePipeline pipeline = run(kDouble, 4, 2, 10, 3, 5);
  EXPECT_EQ(pipeline.end_s(), 48);
  const PipelineTimes parts = pipeline.times();
  EXPECT_EQ(parts.fill_s, 10);
  EXPECT_EQ(parts.compute_s, 12);
  EXPECT_EQ(parts.stall_s, 21);  // 3 times 10 − 3
  EXPECT_EQ(parts.drain_s, 5);
}

// First fill 3, four computes of 10, the last drain 5.
// One fill of 0.7 s, then three steps of 0.1 s without a wait: their ends, 0.7 + 0.1 + 0.1 + 0.1,
// less 0.7 and less 0.1 + 0.1 + 0.1 are -1.1e-16.
TEST(TilePipeline, DoesNotStallWhereNoStepWaits) {
  TilePipeline pipeline(kDouble);
  pipeline.add({.fills_s = {0.7}, .compute_s = 0.1});
  pipeline.add({.fills_s = {}, .compute_s = 0.1});
  pipeline.add({.fills_s = {}, .compute_s = 0.1});
  EXPECT_EQ(pipeline.times().stall_s, 0);
}

TEST(TilePipeline, IsAsFastAsItsComputeWhereThatIsLongest) {
  EXPECT_EQ(run(kDouble, 4, 2, 3, 10, 5).end_s(), 48);
}

// A drain in every step: fill 4, compute 3, then four drains of 20.
TEST(TilePipeline, IsAsFastAsItsDrainsWhereTheyAreLongest) {
  EXPECT_EQ(run(kDouble, 4, 1, 4, 3, 20).end_s(), 87);
}

// A drain of 20 every second step. Steps start at 4, 8, 12 (beside the first drain, 11…31), 32 (20
// after the third), 42 = 32 + … : the fourth ends at 35, drains until 55.
TEST(TilePipeline, AdvancesByTheDrainWhereOneRuns) {
  EXPECT_EQ(run(kDouble, 4, 2, 4, 3, 20).end_s(), 55);
}

// One buffer: a fill waits for the step before, 4 · (10 + 3); the first drain runs beside the third
// fill, the last one takes 5.
TEST(TilePipeline, OverlapsNothingWithSingleBuffers) {
  EXPECT_EQ(run(kSingle, 4, 2, 10, 3, 5).end_s(), 57);
}

/// DRAM at 2 values a second, a buffer, a multiplier of one point a second.
struct Pipelined : ::testing::Test {
  Workload w = tiled_matmul_workload();
  Arch arch;
  Pipelined() {
    Component dram = memory("DRAM", "inf", "Nothing", 0, 2);
    std::get<Memory>(dram.kind).ports = Ports::kSeparate;
    Component buffer = memory("GB", "inf", "Nothing", 0, kUnbounded);
    std::get<Memory>(buffer.kind).buffering = Buffering::kDouble;
    arch.components = {dram, buffer, compute("MAC", {{"compute", 0, 1, 1, 0, {}}})};
  }
  Cost cost(NodeList nodes) {
    const BoundProblem problem = bound(w, arch);
    const auto result = evaluate(problem, Mapping{std::move(nodes), {}}, LatencyPolicy::kPipeline);
    if (!result) throw std::runtime_error(messages(result.error()));
    return *result;
  }
  NodeList tiled() const { return tiled_matmul_nodes(w, arch); }
};

// B's node stops at A's, A's at the loop over n. Four steps (m, k): fills 8 + 8 values, 8 s;
// compute 16 s. 8 s until the first starts, four times 16, and C's second tile of 4 values drains
// in 2 s.
TEST_F(Pipelined, FillsComputesAndDrainsTiles) {
  const Cost result = cost(tiled());
  EXPECT_EQ(result.latency_s, 8 + 64 + 2);
  const LatencyBreakdown parts = {{"fill", 8}, {"compute", 64}, {"stall", 0}, {"drain", 2}};
  EXPECT_EQ(result.breakdown, parts);
}

// 3 s before each of the two tiles, 5 s after every step's last point.
TEST_F(Pipelined, AddsSetUps) {
  arch.components[0].actions[0].setup_s = 3;
  arch.components[2].actions[0].setup_s = 5;
  EXPECT_EQ(cost(tiled()).latency_s, 8 + 2 * 3 + 4 * (16 + 5) + 2);
}

// Counts do not depend on the policy, and leakage lasts as long as the policy says: 1 W for 74 s.
TEST_F(Pipelined, LeaksForAsLongAsItTakes) {
  arch.components[1].leak_power_w = 1;
  const Cost result = cost(tiled());
  EXPECT_DOUBLE_EQ(result.leak_energy_j, 74);
  EXPECT_EQ(values(result, w, arch, "DRAM", "read"), (Values{{"A", 32}, {"B", 32}}));
}

// A row of A fills the buffer, 4 times 4 s; C passes it by, 4 values of 2 s: the port of DRAM is
// busy for 24 s, where fills and computes of 1 s a row would have ended before.
TEST_F(Pipelined, TakesAsLongAsItsBusiestComponent) {
  std::get<Memory>(arch.components[0].kind).ports = Ports::kShared;
  arch.components[2].actions[0].throughput = 8;
  w = WorkloadBuilder({{"m", 4}, {"k", 8}}, 1).einsum("C[m] = A[m,k]").workload;
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"A", "C"}), b.temporal("m", 1), b.storage("GB", {"A"}),
                          b.temporal("k", 1), b.compute("C", "MAC")};
  const Cost result = cost(nodes);
  const Cost overlapped = priced(w, arch, nodes);
  EXPECT_GT(overlapped.latency_s, 4 * 4 + 1);
  EXPECT_EQ(result.latency_s, overlapped.latency_s);
}

// A million steps are not walked one by one: 2^20 tiles of one row; A and B of 2 values
// take 2 s to fill, and 2 s to compute.
TEST_F(Pipelined, TakesLongPipelinesAsPeriodic) {
  w = WorkloadBuilder({{"m", 1 << 20}, {"k", 2}}, 1).einsum("C[m] = A[m,k] * B[k]").workload;
  const MappingBuilder b(w, arch);
  const Cost result =
      cost({b.storage("DRAM", {"A", "B", "C"}), b.temporal("m", 1),
            b.storage("GB", {"C", "A", "B"}), b.temporal("k", 1), b.compute("C", "MAC")});
  EXPECT_NEAR(result.latency_s, 2.0 * (1 << 20), 8);
}

// Loops that go on as they do, against all of their steps.

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
}  // namespace sluice::testing
