#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "oracle/compound/compound_compare.h"
#include "sluice/mapper/registry.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr std::int64_t kMostMappings = 3'000;

TEST(CompoundMapper, FindsWhatBruteForceFindsOverEveryCutFrameNestAndCollective) {
  const Mapper* compound = standard_mappers().find("compound");
  ASSERT_NE(compound, nullptr);
  const testing::RandomCases cases = testing::random_cases(200);
  std::int64_t mappings = 0;
  oracle::CompoundTally tally;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::CompoundCase drawn = oracle::random_compound_case(seed, kMostMappings);
    mappings += drawn.truth.mappings;
    const auto found = oracle::compound_difference(*compound, drawn, tally);
    EXPECT_FALSE(found.has_value()) << "seed " << seed << ": " << *found << "\n" << drawn.yaml;
    if (found) return;
  }
  RecordProperty("mappings", std::to_string(mappings));
  RecordProperty("optimal", std::to_string(tally.optimal));
  RecordProperty("gap", std::to_string(tally.gap));
  RecordProperty("nothing", std::to_string(tally.nothing));
  EXPECT_GE(tally.optimal, 9 * tally.gap) << "at least 90 % are proven";
}

}  // namespace
}  // namespace sluice
