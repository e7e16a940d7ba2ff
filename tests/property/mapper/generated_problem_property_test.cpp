#include <gtest/gtest.h>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kLimits = {.max_nests = 20'000, .max_evaluations = 1'000};

TEST(GeneratedProblem, MeansTheSameWhenItsYamlIsReadByTheFrontEnd) {
  const testing::RandomCases cases = testing::random_cases(40);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    const std::string yaml = oracle::to_yaml(drawn.spec);
    const auto specs = load_specs_from_text({{"problem.yaml", yaml}}, {});
    ASSERT_TRUE(specs.has_value()) << "seed " << seed << "\n" << to_string(specs.error()) << yaml;
    const auto problem = bind(*specs->workload, *specs->arch);
    ASSERT_TRUE(problem.has_value()) << "seed " << seed << "\n"
                                     << to_string(problem.error()) << yaml;
    const oracle::Enumeration read = oracle::enumerate(*problem, drawn.options, kLimits);
    EXPECT_EQ(read.full_front, drawn.truth.full_front) << "seed " << seed << "\n" << yaml;
  }
}

}  // namespace
}  // namespace sluice
