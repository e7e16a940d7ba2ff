// Tiles that peers share and hand round: the examples of compute-shift and of pipelined layers by
// hand, and the model against the executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/document/disagreements.h"
#include "sluice/frontend/load.h"
#include "support/folders.h"

namespace sluice {
namespace {

class Rotation : public ::testing::Test {
 protected:
  void load_example(const std::string& name) {
    const auto file = testing::repository_dir() / "tests/golden/examples" / (name + ".yaml");
    auto specs = load_specs({file.string()}, {});
    ASSERT_TRUE(specs) << to_string(specs.error()[0]);
    problem_ = *bind(*specs->workload, *specs->arch);
    const auto cost = evaluate(problem_, specs->mappings.front());
    ASSERT_TRUE(cost) << cost.error().front().message;
    cost_ = *cost;
    run_ = execute(problem_.workload, problem_.arch, specs->mappings.front());
    ASSERT_TRUE(run_.is_legal()) << run_.complaints.front().message;
    EXPECT_EQ(run_.numbers.differing, 0);
    EXPECT_EQ(cli::disagreements(problem_, cost, run_), std::vector<std::string>{});
  }

  std::int64_t count(const std::string& memory, const std::string& tensor,
                     const std::string& action) const {
    std::int64_t count = 0;
    for (const CountRow& row : run_.counts)
      if (problem_.arch[row.component].name == memory && row.tensor &&
          problem_.workload[*row.tensor].name == tensor && row.action == action)
        count += row.count;
    return count;
  }
  NetworkCount network(const std::string& tensor) const {
    for (const NetworkCount& row : run_.networks)
      if (problem_.workload[row.tensor].name == tensor) return row;
    return {};
  }
  double peak_bits(const std::string& memory) const {
    for (const PeakOccupancy& row : run_.occupancy)
      if (problem_.arch[row.component].name == memory) return row.peak_bits;
    return -1;
  }

  BoundProblem problem_;
  Cost cost_;
  Execution run_;
};

// 8 cores; a tile of X has 4 x 16 values, a share 4 x 4. Each of the two groups of four cores reads
// its tile once: 2 * 64. Three shifts of 16 values in each core: 8 * 48 = 384.
TEST_F(Rotation, OfComputeShiftByHand) {
  load_example("4_compute_shift");
  EXPECT_EQ(count("HBM", "X", "read"), 128);
  EXPECT_EQ(count("HBM", "W", "read"), 256);
  EXPECT_EQ(count("SRAM", "X", "write"), 128 + 384);
  EXPECT_EQ(count("SRAM", "X", "read"), 2048 + 384);
  EXPECT_EQ(count("SRAM", "W", "write"), 512);
  // Shares of 16 bits a value: 128 values from HBM and 384 among the cores, each over one link but
  // for the first core's 16 values, which are at the entry.
  EXPECT_EQ(network("X").volume_bits, (128 + 384) * 16);
  EXPECT_EQ(network("X").bit_hops, (128 - 16 + 384) * 16);
  EXPECT_EQ(network("X").latency_hops, 1 + 3);
  // W 16 x 4, Y 4 x 4, and X's share twice.
  EXPECT_EQ(peak_bits("SRAM"), (64 + 16 + 2 * 16) * 16);
}

// The second layer's weights: 4 x 4 x 9 values, half of them on each of its two nodes. They are
// read once, and handed over once in each of the four batches: the second pass begins where the
// first one has left them.
TEST_F(Rotation, OfPipelinedLayersByHand) {
  load_example("3_pipelined_layers");
  EXPECT_EQ(count("DRAM", "W2", "read"), 144);
  EXPECT_EQ(count("GBUF", "W2", "write"), 144 + 4 * 144);
  // Nodes 2 and 3 of a row: 72 values over 2 and 72 over 3 links; then 72 values either way a
  // batch.
  EXPECT_EQ(network("W2").volume_bits, (144 + 4 * 144) * 16);
  EXPECT_EQ(network("W2").bit_hops, (72 * 2 + 72 * 3 + 4 * 144) * 16);
  EXPECT_EQ(network("W2").latency_hops, 3 + 4);
  // 192 values of Y a batch: 4 channels of 4 rows of 6 to each of two nodes.
  EXPECT_EQ(network("Y").volume_bits, 4 * 192 * 16);
}

}  // namespace
}  // namespace sluice
