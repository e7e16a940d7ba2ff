// COMET's equations 1, 3 and 4 of a collective, by hand.
#include "sluice/model/collective_cost.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// The meshes of COMET's Table V: 256 wires, 64 GB/s; 5 ns a router, 2 ns in queues.
Network comet_mesh(double hop_energy_j) {
  Network network;
  network.channel_width_bits = 256;
  network.link_bandwidth = 64e9 * 8;
  network.router_latency_s = 5e-9;
  network.queue_latency_s = 2e-9;
  network.hop_energy_j = hop_energy_j;
  return network;
}

CollectiveRequest softmax_maximum() {
  return {CollectiveType::kAllReduce,
          {{{comet_mesh(0.5e-12), {2}}, {comet_mesh(0.2e-12), {2}}}, {{0, 0, 2}, {1, 0, 2}}, {}},
          2,
          16,
          0};
}

TEST(CollectiveCost, AnAllReduceOfTwoByTwoCoresByTheEquations) {
  // Counts as in tests/unit/referee/collective_run_test.cpp: DV = 256 bit in all, 4 hops; over the
  // clusters' mesh 128 bit and 1 hop, over the cores' 192 bit and 3 hops.
  // Eq. 1: 256 bit / min(4 TB/s, 64 GB/s) = 256 / 512e9 = 0.5 ns.
  // Eq. 3: 5 ns · (1 + 3) + 2 ns · (128 + 192) / 256 = 20 + 2.5 = 22.5 ns. Eq. 4: 23 ns.
  // Energy: 128 · 0.5 pJ + 256 · 0.2 pJ = 115.2 pJ.
  const CollectiveCost cost = price_collective(softmax_maximum(), "recursive_doubling", 32e12);
  EXPECT_DOUBLE_EQ(cost.memory_latency_s, 0.5e-9);
  EXPECT_DOUBLE_EQ(cost.network_latency_s, 22.5e-9);
  EXPECT_DOUBLE_EQ(cost.latency_s(), 23e-9);
  EXPECT_DOUBLE_EQ(cost.network_energy_j, 115.2e-12);
}

TEST(CollectiveCost, ASlowMemoryBoundsEquationOne) {
  // 256 bit / 1 Gbit/s
  EXPECT_DOUBLE_EQ(price_collective(softmax_maximum(), "recursive_doubling", 1e9).memory_latency_s,
                   256e-9);
}

TEST(CollectiveCost, AutoTakesTheFastest) {
  // Up a binomial tree (ranks 1 → 0 and 3 → 2, one hop; 2 → 0, one hop) and down again: 4 hops as
  // recursive doubling, but 6 messages of 2 values of 16 bit = 192 bit instead of 256.
  const CollectiveCost best = price_collective(softmax_maximum(), "auto", 32e12);
  EXPECT_EQ(best.algorithm, "tree");
  EXPECT_EQ(best.counts.total, (CollectiveQuantities{4, 192, 192}));
  for (const std::string& algorithm : standard_collective_algorithms().names()) {
    if (why_no_collective(softmax_maximum(), algorithm)) continue;
    EXPECT_LE(best.latency_s(), price_collective(softmax_maximum(), algorithm, 32e12).latency_s());
  }
}

TEST(CollectiveCost, VolumesOfPowersOfTwoFollowTheirFormulas) {
  // P = 8, V = 24 values of 2 bit on a ring: volumes in units of V bits = 48.
  Network network;
  network.topology = Topology::kRing;
  CollectiveRequest request{
      CollectiveType::kAllReduce, {{{network, {8}}}, {{0, 0, 8}}, {}}, 24, 2, 0};
  const auto volume = [&](CollectiveType type, const char* algorithm) {
    request.type = type;
    return count_collective(request, algorithm).total.volume_bits / 48;
  };
  EXPECT_EQ(volume(CollectiveType::kAllReduce, "recursive_doubling"), 8 * 3);
  EXPECT_EQ(volume(CollectiveType::kAllReduce, "recursive_halving_doubling"), 2 * 7);
  EXPECT_EQ(volume(CollectiveType::kReduceScatter, "ring"), 7);
  EXPECT_EQ(volume(CollectiveType::kAllGather, "recursive_doubling"), 7);
  EXPECT_EQ(volume(CollectiveType::kBroadcast, "tree"), 7);
  EXPECT_EQ(volume(CollectiveType::kScatter, "tree"), 3.0 / 2);
  EXPECT_EQ(volume(CollectiveType::kGather, "ring"), 7.0 / 2);
  EXPECT_EQ(volume(CollectiveType::kAllToAll, "recursive_halving_doubling"), 8 * 3 / 2);
  EXPECT_EQ(volume(CollectiveType::kAllToAll, "ring"), 8 * 7 / 2);
}

TEST(CollectiveCost, SaysWhyARequestCannotBe) {
  CollectiveRequest request = softmax_maximum();
  EXPECT_EQ(why_no_collective(request, "direct"),
            "The algorithm direct needs an all_to_all network, not a network of topology mesh.");
  EXPECT_EQ(why_no_collective(request, "smoke_signals"),
            "There is no collective algorithm 'smoke_signals'.");
  request.type = CollectiveType::kAllToAll;
  EXPECT_EQ(why_no_collective(request, "tree"), "The algorithm tree has no all_to_all.");
  request.type = CollectiveType::kBroadcast;
  request.root = 4;
  EXPECT_EQ(why_no_collective(request, "auto"),
            "The root has rank 4; there are 4 participants, counted from 0.");
  request.group.over[1].participants = 3;
  EXPECT_EQ(why_no_collective(request, "auto"), "3 participants in a dimension of 2 instances.");
}

}  // namespace
}  // namespace sluice
