// Policy staged on random mappings with sequential splits: never shorter than overlap, and without
// stalls where every transfer takes no time.
#include <gtest/gtest.h>

#include <limits>

#include "sluice/model/evaluate.h"
#include "sluice/model/stalls.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

template <class Visit>
void for_each_legal(std::int64_t default_count, const Visit& visit) {
  const testing::RandomCases cases = testing::random_cases(default_count);
  std::int64_t n_legal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    std::string why;
    auto triple = triples::load(triples::random_triple(seed), &why);
    ASSERT_TRUE(triple) << why;
    if (!evaluate(triple->problem, triple->mapping)) continue;
    ++n_legal;
    visit(seed, *triple);
  }
  EXPECT_GT(n_legal, cases.count / 3);
}

double sum(const LatencyBreakdown& parts) {
  double seconds = 0;
  for (const LatencyPart& part : parts) seconds += part.seconds;
  return seconds;
}

double part(const Cost& cost, const std::string& name) {
  for (const LatencyPart& part : cost.breakdown)
    if (part.name == name) return part.seconds;
  return -1;
}

TEST(StagedProperty, IsNeverShorterThanOverlapAndAddsUp) {
  for_each_legal(500, [](std::uint64_t seed, const triples::LoadedTriple& triple) {
    const auto overlap = evaluate(triple.problem, triple.mapping);
    const auto staged = evaluate(triple.problem, triple.mapping, LatencyPolicy::kStaged);
    ASSERT_TRUE(staged) << seed;
    EXPECT_GE(staged->latency_s, overlap->latency_s * (1 - 1e-12)) << seed;
    EXPECT_DOUBLE_EQ(staged->latency_s, sum(staged->breakdown)) << seed;
    for (const LatencyPart& part : staged->breakdown) EXPECT_GE(part.seconds, 0) << seed;
    for (std::size_t row = 0; row < overlap->energy.size(); ++row)
      EXPECT_EQ(overlap->energy[row].count, staged->energy[row].count) << seed;
  });
}

TEST(StagedProperty, AccountsForEveryStall) {
  for_each_legal(500, [](std::uint64_t seed, const triples::LoadedTriple& triple) {
    const auto staged = evaluate(triple.problem, triple.mapping, LatencyPolicy::kStaged);
    double compulsory_s = 0, optional_s = 0;
    for (const StallRow& row : staged_stalls(triple.problem, triple.mapping))
      (row.kind == StallKind::kFirstFill || row.kind == StallKind::kLastDrain ? compulsory_s
                                                                              : optional_s) +=
          row.seconds;
    const double tolerance = 1e-9 * staged->latency_s;
    EXPECT_NEAR(compulsory_s, part(*staged, "compulsory_stall"), tolerance) << seed;
    EXPECT_NEAR(optional_s, part(*staged, "optional_stall"), tolerance) << seed;
  });
}

TEST(StagedProperty, HasNoStallsWhereTransfersTakeNoTime) {
  const double infinite = std::numeric_limits<double>::infinity();
  for_each_legal(500, [&](std::uint64_t seed, triples::LoadedTriple& triple) {
    for (Component& component : triple.problem.arch.components) {
      if (auto* network = std::get_if<Network>(&component.kind)) {
        network->link_bandwidth = infinite;
        network->router_latency_s = network->queue_latency_s = 0;
      }
      if (std::holds_alternative<Compute>(component.kind)) continue;
      for (Action& action : component.actions) {
        action.throughput = infinite;
        action.setup_s = 0;
      }
    }
    const auto overlap = evaluate(triple.problem, triple.mapping);
    const auto staged = evaluate(triple.problem, triple.mapping, LatencyPolicy::kStaged);
    ASSERT_TRUE(staged && overlap) << seed;
    EXPECT_EQ(part(*staged, "compulsory_stall"), 0) << seed;
    EXPECT_LE(part(*staged, "optional_stall"), 1e-12 * staged->latency_s) << seed;
    EXPECT_NEAR(staged->latency_s, overlap->latency_s, 1e-12 * overlap->latency_s) << seed;
  });
}

}  // namespace
}  // namespace sluice
