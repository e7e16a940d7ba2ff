// Policies from outside the model.
#include "sluice/model/latency_policy.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "sluice/support/error.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

/// `times` as long as overlap, in equal parts; collectives and concurrent splits are not its
/// matter.
class Slower final : public LatencyMethod {
 public:
  explicit Slower(int times) : times_(times) {}
  std::string name() const override { return "slower"; }
  bool prices_concurrent_splits() const override { return false; }
  LatencyBreakdown latency(const CountedMapping& counted) const override {
    return LatencyBreakdown(static_cast<std::size_t>(times_), {"part", counted.overlap_s()});
  }

 private:
  int times_;
};

/// The busy times of all components, one after the other.
class OneByOne final : public LatencyMethod {
 public:
  std::string name() const override { return "one_by_one"; }
  LatencyBreakdown latency(const CountedMapping& counted) const override {
    LatencyBreakdown parts;
    for (const LatencyRow& row : counted.overlap_account().latency)
      parts.push_back({counted.problem().arch[row.component].name, row.latency_s});
    return parts;
  }
};

/// C of 4 × 8 × 2 points on a MAC of one point a second: 64 s.
struct Policies : ::testing::Test {
  Workload w = tiled_matmul_workload();
  Arch arch;
  Policies() {
    arch.components = {memory("DRAM", "inf", "Nothing", 1, 2),
                       memory("GB", "inf", "Nothing", 0, kUnbounded),
                       compute("MAC", {{"compute", 1, 1, 1, 0, {}}})};
    arch.components[0].leak_power_w = 3;
  }
  tl::expected<Cost, std::vector<Violation>> cost(const LatencyPolicy& policy) const {
    return evaluate(bound(w, arch), Mapping{tiled_matmul_nodes(w, arch), {}}, policy);
  }
};

// 64 multiplications at 1 a second; leakage lasts as long, at 3 W.
TEST_F(Policies, AnotherLatencyAndTheLeakageThatGoesWithIt) {
  const Cost overlap = *cost(LatencyPolicy::kOverlap);
  EXPECT_EQ(overlap.latency_s, 64);
  EXPECT_EQ(overlap.leak_energy_j, 3 * 64);
  const Slower triple(3);
  const Cost tripled = *cost(triple);
  EXPECT_EQ(tripled.latency_s, 3 * 64);
  EXPECT_EQ(tripled.breakdown, LatencyBreakdown(3, {"part", 64}));
  EXPECT_EQ(tripled.leak_energy_j, 3 * 3 * 64);
  EXPECT_EQ(tripled.energy_j - tripled.leak_energy_j, overlap.energy_j - overlap.leak_energy_j);
  const auto totals =
      evaluate_totals(bound(w, arch), Mapping{tiled_matmul_nodes(w, arch), {}}, triple);
  EXPECT_EQ(totals->latency_s, tripled.latency_s);
  EXPECT_EQ(totals->energy_j, tripled.energy_j);
}

// As many seconds as the account under overlap says of DRAM, GB (0 s) and MAC (64 s).
TEST_F(Policies, TheAccountUnderOverlapIsThere) {
  const OneByOne policy;
  const Cost result = *cost(policy);
  double seconds = 0;
  const Cost overlap = *cost(LatencyPolicy::kOverlap);
  for (const LatencyRow& row : overlap.latency) seconds += row.latency_s;
  EXPECT_GT(seconds, 64);
  EXPECT_EQ(result.latency_s, seconds);
  EXPECT_EQ(result.breakdown.front().name, "DRAM");
}

TEST_F(Policies, NoPartsAreTheLatencyOfOverlap) {
  const Slower nothing(0);
  EXPECT_EQ(cost(nothing)->latency_s, 64);
}

TEST_F(Policies, PartsBelowZeroAreABug) {
  struct Backwards final : LatencyMethod {
    std::string name() const override { return "backwards"; }
    LatencyBreakdown latency(const CountedMapping&) const override { return {{"gain", -1}}; }
  };
  const Backwards backwards;
  EXPECT_THROW((void)cost(backwards), InternalError);
}

TEST_F(Policies, WhatAPolicyHasNoTimesForCannotBePriced) {
  const MappingBuilder b(w, arch);
  SplitNode split;
  split.kind = SplitKind::kParallel;
  split.children = {{b.temporal("k", 1), b.compute("C", "MAC")}};
  const NodeList nodes = {b.storage("DRAM", {"A", "B", "C"}), {split}};
  const Slower twice(2);
  const auto result = evaluate(bound(w, arch), Mapping{nodes, {}}, twice);
  ASSERT_FALSE(result);
  EXPECT_TRUE(std::any_of(result.error().begin(), result.error().end(), [](const Violation& v) {
    return v.kind == ViolationKind::kUnsupportedNode;
  }));
  EXPECT_THAT(messages(result.error()),
              ::testing::HasSubstr("The policy slower cannot price a parallel split; overlap and "
                                   "staged and segment can."));
}

TEST(LatencyPolicies, OfTheModelHaveTheirNamesAndAreTheConstants) {
  const LatencyPolicies& standard = standard_latency_policies();
  EXPECT_EQ(standard.names(),
            (std::vector<std::string>{"overlap", "pipeline", "staged", "segment"}));
  EXPECT_EQ(LatencyPolicy(*standard.find("pipeline")), LatencyPolicy::kPipeline);
  EXPECT_EQ(LatencyPolicy(*standard.find("staged")), LatencyPolicy::kStaged);
  EXPECT_NE(LatencyPolicy(*standard.find("overlap")), LatencyPolicy::kStaged);
}

}  // namespace
}  // namespace sluice::testing
