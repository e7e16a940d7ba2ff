#include <gtest/gtest.h>

#include <chrono>

#include "oracle/compare.h"
#include "sluice/mapper/registry.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kLimits = {.max_nests = 20'000, .max_evaluations = 1'000};
/// Kinds of input drawn beside the plain ones; `sluice_fuzz` draws all.
constexpr oracle::Extras kExtras = {
    .tolls = true, .double_variables = true, .normalisations = true};

TEST(FusedMapper, FindsExactlyTheOptimumAndTheFrontsThatBruteForceFinds) {
  const Mapper* fused = find_mapper("fused");
  ASSERT_NE(fused, nullptr);
  const testing::RandomCases cases = testing::random_cases(500);
  std::int64_t mappings = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, kExtras);
    mappings += drawn.truth.full_mappings;
    const auto found = oracle::difference(*fused, drawn.problem, drawn.options, drawn.truth, seed);
    if (!found) continue;
    const auto simplest = oracle::shrink(*fused, drawn.spec, *found, kLimits, seed);
    FAIL() << "seed " << seed << ": " << *found << "\nsimplest problem:\n"
           << oracle::to_yaml(simplest.spec) << simplest.difference;
  }
  RecordProperty("full_mappings", std::to_string(mappings));
}

}  // namespace
}  // namespace sluice
