// Outputs with windows, executed: every number is worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "property/referee/settled_differences.h"
#include "sluice/referee/execute.h"

namespace sluice {
namespace {

constexpr const char* kArch = R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 2}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [G, W, D], component: DRAM}
)";

class Executed {
 public:
  Executed(const std::string& einsum, const std::string& sizes, const std::string& bounds,
           const std::string& nodes)
      : loaded_(settled::Settled::load(settled::workload_of('"' + einsum + '"', sizes, bounds) +
                                       kArch + nodes)) {
    ExecutionOptions options;
    options.record_values = true;
    run_ = execute(loaded_.problem.workload, loaded_.problem.arch, loaded_.mapping, options);
  }

  std::int64_t count(const std::string& component, const std::string& action) const {
    for (const CountRow& row : run_.counts)
      if (row.tensor && loaded_.problem.workload[*row.tensor].name == "D" &&
          loaded_.problem.arch[row.component].name == component && row.action == action)
        return row.count;
    return 0;
  }
  const Execution& result() const { return run_; }
  std::vector<double> values(const std::string& tensor) const {
    return run_.values.at(*find_tensor(loaded_.problem.workload, tensor));
  }

 private:
  triples::LoadedTriple loaded_;
  Execution run_;
};

constexpr const char* kPointByPoint =
    "  - !Temporal {rank_variable: p, tile_shape: 1}\n"
    "  - !Temporal {rank_variable: r, tile_shape: 1}\n"
    "  - !Compute {einsum: D, component: MAC}\n";

// 8·3 points write 2·7 + 2 + 1 = 17 values: 24 − 17 = 7 times there is something to add to.
TEST(WindowedOutput, IsReadOnceForEveryPointThatIsNotTheFirstOfItsValue) {
  const Executed run("D[X:2*p+r] = G[p] * W[r]", "P: 8", "0 <= r < 3", kPointByPoint);
  ASSERT_TRUE(run.result().is_legal()) << run.result().complaints[0].message;
  EXPECT_EQ(run.count("DRAM", "read"), 7);
  EXPECT_EQ(run.count("DRAM", "write"), 24);
}

// GB keeps all 17 values: 7 reads for sums, 17 that go back to DRAM.
TEST(WindowedOutput, GoesBackFromABufferOnce) {
  const Executed run("D[X:2*p+r] = G[p] * W[r]", "P: 8", "0 <= r < 3",
                     std::string("  - !Storage {tensors: [D], component: GB}\n") + kPointByPoint);
  EXPECT_EQ(run.count("GB", "read"), 7 + 17);
  EXPECT_EQ(run.count("GB", "write"), 24);
  EXPECT_EQ(run.count("DRAM", "write"), 17);
  EXPECT_EQ(run.count("DRAM", "read"), 0);
}

// GB holds the 3 values of one p: 8 visits of 3 values; of the 24 values that are brought 17 come
// for the first time.
TEST(WindowedOutput, ComesBackWhereTheTilesOfTwoVisitsOverlap) {
  const Executed run("D[X:2*p+r] = G[p] * W[r]", "P: 8", "0 <= r < 3",
                     "  - !Temporal {rank_variable: p, tile_shape: 1}\n"
                     "  - !Storage {tensors: [D], component: GB}\n"
                     "  - !Temporal {rank_variable: r, tile_shape: 1}\n"
                     "  - !Compute {einsum: D, component: MAC}\n");
  EXPECT_EQ(run.count("DRAM", "read"), 24 - 17);
  EXPECT_EQ(run.count("DRAM", "write"), 24);
  // Sums: of GB's 24 points 7 are known to the compute. All tiles go back.
  EXPECT_EQ(run.count("GB", "read"), 7 + 24);
  EXPECT_EQ(run.count("GB", "write"), 7 + 24);
}

// 3·2 + 1 + 1 = 8 places, of which 3p + r with r < 2 never is 2 or 5. They are part of the tile.
TEST(WindowedOutput, HasPlacesThatNobodyMakesWhereTheStrideExceedsTheFilter) {
  const Executed run("D[X:3*p+r] = G[p] * W[r]", "P: 3", "0 <= r < 2",
                     std::string("  - !Storage {tensors: [D], component: GB}\n") + kPointByPoint);
  ASSERT_TRUE(run.result().is_legal()) << run.result().complaints[0].message;
  EXPECT_EQ(run.count("GB", "write"), 6);
  EXPECT_EQ(run.count("GB", "read"), 8);
  EXPECT_EQ(run.count("DRAM", "write"), 8);
  EXPECT_TRUE(std::isnan(run.values("D")[2]));
  EXPECT_TRUE(std::isnan(run.values("D")[5]));
  EXPECT_EQ(run.values("D")[3], run.values("G")[1] * run.values("W")[0]);
}

// Two instances of two p each hold places 0..2 and 2..4: 6 go back, and at place 2 two sums meet.
TEST(WindowedOutput, MeetsAtTheEdgesOfInstances) {
  const Executed run(
      "D[X:p+r] = G[p] * W[r]", "P: 4", "0 <= r < 2",
      std::string("  - !Spatial {rank_variable: p, tile_shape: 2, component: PE, name: x}\n"
                  "  - !Storage {tensors: [D], component: RF}\n") +
          kPointByPoint);
  ASSERT_TRUE(run.result().is_legal()) << run.result().complaints[0].message;
  EXPECT_EQ(run.count("DRAM", "write"), 6);
  EXPECT_EQ(run.count("DRAM", "read"), 0);
  EXPECT_EQ(run.result().merge_values, 1);
  EXPECT_EQ(run.count("RF", "read"), 2 * (4 - 3) + 6);
}

// Two steps over r. The first instance holds 0..2 and then 2..4, the second 2..4 and then 4..6.
// Back come 2 for the first and 4 for the second one. All messages but the first at each place need
// a read: 12 − 7 = 5, of which 2 are those; 3 are merges (2 in step one; 3 and 4 in step two).
TEST(WindowedOutput, IsMergedAlsoWhileAnotherInstanceHasTheSum) {
  const Executed run(
      "D[X:p+r] = G[p] * W[r]", "P: 4", "0 <= r < 4",
      std::string("  - !Temporal {rank_variable: r, tile_shape: 2}\n"
                  "  - !Spatial {rank_variable: p, tile_shape: 2, component: PE, name: x}\n"
                  "  - !Storage {tensors: [D], component: RF}\n") +
          kPointByPoint);
  EXPECT_EQ(run.count("DRAM", "write"), 12);
  EXPECT_EQ(run.count("DRAM", "read"), 2);
  EXPECT_EQ(run.result().merge_values, 3);
}

// p + r is 0, 1, 1 and 2, of which X has the first two: the last is moved like a value, and
// dropped.
TEST(WindowedOutput, DropsWhatLiesOutsideItsRank) {
  const Executed run("D[X:p+r] = G[p] * W[r]", "P: 2, X: 2", "0 <= r < 3", kPointByPoint);
  ASSERT_TRUE(run.result().is_legal()) << run.result().complaints[0].message;
  EXPECT_EQ(run.count("DRAM", "write"), 4);
  EXPECT_EQ(run.count("DRAM", "read"), 1);
  EXPECT_EQ(run.result().padding_values, 1);
  const std::vector<double> g = run.values("G"), w = run.values("W");
  EXPECT_EQ(run.values("D"), (std::vector<double>{g[0] * w[0], g[1] * w[0] + g[0] * w[1]}));
}

// The tiles of two steps overlap: neither has all of its sums.
TEST(WindowedOutput, IsNotBackedBelowALoopThatMovesItsWindow) {
  const std::string below =
      "  - !Temporal {rank_variable: p, tile_shape: 1}\n"
      "  - !Storage {tensors: [D], component: GB}\n"
      "  - !Temporal {rank_variable: r, tile_shape: 1}\n"
      "  - !Compute {einsum: D, component: MAC}\n";
  std::string text =
      settled::workload_of("\"D[X:p+r] = G[p] * W[r]\"", "P: 4", "0 <= r < 2") + kArch;
  text.replace(text.find("[G, W, D]"), 9, "[G, W]");
  const triples::LoadedTriple loaded = settled::Settled::load(text + below);
  const Execution run = execute(loaded.problem.workload, loaded.problem.arch, loaded.mapping);
  ASSERT_FALSE(run.is_legal());
  EXPECT_EQ(run.complaints[0].message,
            "The loop over p stands above the backing storage of D but does not walk it for the "
            "Einsum D.");
}

}  // namespace
}  // namespace sluice
