// Policy `segment`: fill and drain of pipelines by hand, and what holds of any mapping.
#include <gtest/gtest.h>

#include <numeric>

#include "sluice/frontend/load.h"
#include "sluice/model/evaluate.h"
#include "support/folders.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

LatencyPolicy segment() { return *standard_latency_policies().find("segment"); }

double part(const Cost& cost, const std::string& name) {
  for (const LatencyPart& part : cost.breakdown)
    if (part.name == name) return part.seconds;
  return -1;
}

// The first layer has 10,368 points on two nodes, 5,184 s, and forwards 192 values of 16 bits at
// 128 bit/s in each of four batches: 4 * 24 s. The second one has 9,216 points, 4,608 s. td = 5,280
// + 4,608, crit = 5,280; DRAM moves 984 values at 25 a second.
TEST(SegmentLatency, OfTwoForwardedLayersByHand) {
  const auto file = testing::repository_dir() / "tests/golden/examples/6_forwarded_layers.yaml";
  const auto specs = load_specs({file.string()}, {});
  ASSERT_TRUE(specs);
  const auto cost =
      evaluate(*bind(*specs->workload, *specs->arch), specs->mappings.front(), segment());
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->latency_s, 5280 + 4608.0 / 4);
  EXPECT_DOUBLE_EQ(part(*cost, "sequential"), 0);
  EXPECT_DOUBLE_EQ(part(*cost, "steady"), 5280);
  EXPECT_DOUBLE_EQ(part(*cost, "fill_and_drain"), 1152);
  EXPECT_DOUBLE_EQ(part(*cost, "shared_components"), 0);
}

TEST(SegmentLatency, IsThatOfOverlapWithoutPipelinesAndNeverBelowIt) {
  int pipelines = 0, longer = 0;
  const testing::RandomCases cases = testing::random_cases(400);
  for (std::uint64_t seed = cases.seed; seed < cases.seed + static_cast<std::uint64_t>(cases.count);
       ++seed) {
    const auto loaded = triples::load(
        seed % 2 ? triples::region_triple(seed) : triples::random_triple(seed), nullptr);
    ASSERT_TRUE(loaded);
    const auto overlap = evaluate(loaded->problem, loaded->mapping);
    const auto cost = evaluate(loaded->problem, loaded->mapping, segment());
    ASSERT_EQ(overlap.has_value(), cost.has_value());
    if (!cost) continue;
    double sum = 0;
    for (const LatencyPart& part : cost->breakdown) {
      EXPECT_GE(part.seconds, 0) << seed;
      sum += part.seconds;
    }
    EXPECT_DOUBLE_EQ(sum, cost->latency_s) << seed;
    EXPECT_GE(cost->latency_s, overlap->latency_s * (1 - 1e-12)) << seed;
    const bool has_pipeline = part(*cost, "steady") > 0;
    if (!has_pipeline) {
      EXPECT_DOUBLE_EQ(cost->latency_s, overlap->latency_s) << seed;
    }
    pipelines += has_pipeline;
    longer += cost->latency_s > overlap->latency_s * (1 + 1e-12);
  }
  if (cases.count < 400) return;
  EXPECT_GT(pipelines, 20);
  EXPECT_GT(longer, 2);
}

}  // namespace
}  // namespace sluice
