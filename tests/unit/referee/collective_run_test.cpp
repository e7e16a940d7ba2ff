// The referee of collectives, against counts made by hand.
#include "sluice/referee/collective_run.h"

#include <gtest/gtest.h>

namespace sluice::referee {
namespace {

CollectiveGroup four_in_a_row(Topology topology) {
  Network network;
  network.topology = topology;
  return {{{network, {4}}}, {{0, 0, 4}}, {}};
}

/// Two clusters of two cores each, on two meshes; rank = 2 · cluster + core.
CollectiveGroup two_by_two() {
  return {{{Network{}, {2}}, {Network{}, {2}}}, {{0, 0, 2}, {1, 0, 2}}, {}};
}

TEST(CollectiveRun, RecursiveDoublingOfTwoValuesAmongTwoByTwoCores) {
  // Step 1, ranks 0-1 and 2-3, the cores of a cluster: 1 hop; 4 messages × 2 values × 16 bit = 128.
  // Step 2, ranks 0-2 and 1-3, equal cores of two clusters: cores 0 one hop over the clusters'
  // mesh;
  //   cores 1 also go to core 0 of their own cluster and from core 0 of the other: 3 hops. 128 bit.
  // Hops 1 + 3; bits 256; bit hops 128 · 1 + 64 · 1 + 64 · 3 = 384, of which 128 between clusters.
  const CollectiveRequest request{CollectiveType::kAllReduce, two_by_two(), 2, 16, 0};
  const CollectiveRun run = run_collective(request, "recursive_doubling", Reduction::kMax,
                                           {{1, 8}, {2, 7}, {3, 6}, {4, 5}});
  EXPECT_EQ(run.total, (CollectiveCount{4, 256, 384}));
  EXPECT_EQ(run.networks[0], (CollectiveCount{1, 128, 128}));
  EXPECT_EQ(run.networks[1], (CollectiveCount{3, 128 + 64, 128 + 128}));
  EXPECT_EQ(run.combined_values, 16);  // 8 messages of 2 values
  for (const CollectiveBuffer& buffer : run.results)
    EXPECT_EQ(buffer, (CollectiveBuffer{{{0, 0}, 4}, {{0, 1}, 8}}));
}

TEST(CollectiveRun, HalvingAndDoublingSendsNoEmptyBlocks) {
  // Two values in four blocks: 1, 1, 0, 0. Halving at distance 2: ranks 2 and 3 hand over both
  // values, 0 and 1 have nothing to hand over. At distance 1: ranks 0 and 1 one value each.
  // 4 + 2 values, and the same on the way back: 12 values × 16 bit = 192.
  // Mesh row: hops 2 + 1 + 1 + 2 = 6; bit hops 16 · (4 · 2 + 2 · 1) · 2 = 320.
  const CollectiveRequest request{CollectiveType::kAllReduce, four_in_a_row(Topology::kMesh), 2, 16,
                                  0};
  const CollectiveRun run = run_collective(request, "recursive_halving_doubling", Reduction::kSum,
                                           {{1, 8}, {2, 7}, {3, 6}, {4, 5}});
  EXPECT_EQ(run.total, (CollectiveCount{6, 192, 320}));
  for (const CollectiveBuffer& buffer : run.results)
    EXPECT_EQ(buffer, (CollectiveBuffer{{{0, 0}, 10}, {{0, 1}, 26}}));
}

TEST(CollectiveRun, ARingOnAMeshPaysForItsLastLink) {
  // reduce_scatter of 4 values, 3 steps, each with four messages of one value: 12 × 8 bit = 96.
  // Three of the messages go one hop, that from the last to the first three: 6 hops a step.
  // Mesh: 3 · 3 = 9 hops, 3 · 6 · 8 = 144 bit hops. Ring: 3 hops and 96 bit hops.
  const std::vector<std::vector<double>> data(4, {1, 2, 3, 4});
  CollectiveRequest request{CollectiveType::kReduceScatter, four_in_a_row(Topology::kMesh), 4, 8,
                            0};
  EXPECT_EQ(run_collective(request, "ring", Reduction::kSum, data).total,
            (CollectiveCount{9, 96, 144}));
  request.group = four_in_a_row(Topology::kRing);
  EXPECT_EQ(run_collective(request, "ring", Reduction::kSum, data).total,
            (CollectiveCount{3, 96, 96}));
}

TEST(CollectiveRun, ThreeParticipantsFoldTheLastOne) {
  // Rank 2 gives its vector to rank 0 (2 hops), 0 and 1 exchange theirs (1 hop), rank 2 gets the
  // result back (2 hops): 1 + 2 + 1 messages of 5 values of 1 bit.
  Network network;
  const CollectiveRequest request{
      CollectiveType::kAllReduce, {{{network, {3}}}, {{0, 0, 3}}, {}}, 5, 1, 0};
  const CollectiveRun run = run_collective(request, "recursive_doubling", Reduction::kMin,
                                           std::vector<std::vector<double>>(3, {1, 2, 3, 4, 5}));
  EXPECT_EQ(run.total, (CollectiveCount{5, 20, 5 * (2 + 1 + 1 + 2)}));
}

TEST(CollectiveRun, LeavesOfATreeMeetAtTheirCommonAncestor) {
  // Broadcast from rank 3 of 4, binomial: 3 → 1 (distance 2 counted from the root; leaves 3 and 1
  // meet at the root: 4 links), then 3 → 0 (4 links) and 1 → 2 (4 links): hops 4 + 4.
  const CollectiveRequest request{CollectiveType::kBroadcast, four_in_a_row(Topology::kTree), 1, 1,
                                  3};
  const CollectiveRun run = run_collective(request, "tree", Reduction::kNone, {{}, {}, {}, {7}});
  EXPECT_EQ(run.total, (CollectiveCount{8, 3, 12}));
}

}  // namespace
}  // namespace sluice::referee
