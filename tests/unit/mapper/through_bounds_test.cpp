#include "mapper/fused/graph/through_bounds.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::fused {
namespace {

ThroughBounds::Costs hulls(const std::vector<LowerHull>& of_groups) {
  const auto result = std::make_shared<HullList>();
  for (const LowerHull& hull : of_groups) result->add(hull);
  return result;
}

/// Two Einsums and two ways of exchanging: group 0 with group 0 (energies 1 + 4), group 1 with
/// group 1 (3 + 1); all take 1 s.
ThroughBounds two_ways() {
  ExchangeGraph graph;
  graph.n_spines = {1, 2, 1};
  graph.edges = {{{0, 0, 0}, {0, 1, 1}}, {{0, 0, 0}, {1, 1, 0}}};
  return {graph, {hulls({{{1, 1}}, {{3, 1}}}), hulls({{{4, 1}}, {{1, 1}}})}, 1};
}

SearchBound below(double energy) {
  return {.active = true, .objective = Objective::kEnergy, .limit = energy};
}

TEST(ThroughBounds, TheBestPathBoundsAllMappings) {
  ThroughBounds paths = two_ways();
  paths.update(below(10));
  EXPECT_EQ(paths.least(below(10)), 4);  // 3 + 1
}

TEST(ThroughBounds, OfAGroupTheRestOfItsBestPathIsWhatTheOthersCost) {
  ThroughBounds paths = two_ways();
  paths.update(below(10));
  const std::vector<LowerHull> others = paths.others(0);
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0].front().energy, 4);
  EXPECT_EQ(others[1].front().energy, 1);
  EXPECT_EQ(others[1].front().latency, 1);
}

TEST(ThroughBounds, WhatIsAboveTheLimitIsDropped) {
  ThroughBounds paths = two_ways();
  paths.update(below(4.5));
  EXPECT_TRUE(paths.others(0)[0].empty());  // 1 + 4
  EXPECT_FALSE(paths.others(0)[1].empty());
  EXPECT_EQ(paths.graph().edges[1].size(), 1U);
  EXPECT_EQ(paths.graph().n_spines[1], 1U);
}

TEST(ThroughBounds, GoOnWithWhatIsLeft) {
  ThroughBounds paths = two_ways();
  paths.update(below(4.5));  // group 0 and the spine behind it are gone
  paths.set_costs(0, hulls({{}, {{2, 1}}}));
  paths.update(below(4.5));
  EXPECT_EQ(paths.least(below(4.5)), 3);  // 2 + 1
  EXPECT_EQ(paths.others(1)[1].front().energy, 2);
}

TEST(ThroughBounds, PricesTakeThePlaceOfBounds) {
  ThroughBounds paths = two_ways();
  paths.set_costs(1, hulls({{{4, 1}}, {}}));  // group 1 of the second Einsum has no pmapping
  paths.update(below(10));
  EXPECT_EQ(paths.least(below(10)), 5);  // 1 + 4
  EXPECT_TRUE(paths.others(0)[1].empty());
}

TEST(ThroughBounds, WithoutAPathNothingIsLeft) {
  ThroughBounds paths = two_ways();
  paths.set_costs(1, hulls({{}, {}}));
  paths.update(below(10));
  EXPECT_EQ(paths.least(below(10)), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sluice::fused
