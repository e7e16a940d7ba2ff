#include <gtest/gtest.h>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kGeneratedCases = {.max_nests = 20'000,
                                                       .max_evaluations = 1'000};

TEST(GeneratedProblem, MeansTheSameWhenItsYamlIsReadByTheFrontEnd) {
  const testing::RandomCases cases = testing::random_cases(40);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kGeneratedCases, oracle::kAllExtras);
    const std::string yaml = oracle::to_yaml(drawn.spec);
    const auto specs = load_specs_from_text({{"problem.yaml", yaml}}, {});
    ASSERT_TRUE(specs.has_value()) << "seed " << seed << "\n" << to_string(specs.error()) << yaml;
    const auto problem = bind(*specs->workload, *specs->arch);
    ASSERT_TRUE(problem.has_value()) << "seed " << seed << "\n"
                                     << to_string(problem.error()) << yaml;
    const oracle::Enumeration read = oracle::enumerate(*problem, drawn.options, kGeneratedCases);
    EXPECT_EQ(read.full_front, drawn.truth.full_front) << "seed " << seed << "\n" << yaml;
  }
}

/// Finds nothing where a window is read or written, and the fused mapper's answer elsewhere.
class BlindToWindows : public Mapper {
 public:
  std::string name() const override { return "blind"; }
  std::string description() const override { return "broken"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override {
    for (const Einsum& einsum : problem.workload.einsums)
      for (const TensorAccess& access : einsum.accesses)
        for (const AffineExpression& index : access.projection)
          if (index.terms.size() > 1 && points(einsum) >= 4)
            return tl::make_unexpected(NoMapping{});
    return standard_mappers().find("fused")->map(problem, options, control);
  }

 private:
  static std::int64_t points(const Einsum& einsum) {
    std::int64_t product = 1;
    for (const VariableRange& range : einsum.iteration_space) product *= range.size;
    return product;
  }
};

TEST(GeneratedProblem, ShrinksToOneThatDiffersAsItIsPrinted) {
  const BlindToWindows blind;
  oracle::Extras extras;
  extras.windowed_outputs = extras.shared_windows = true;
  const testing::RandomCases cases = testing::random_cases(14);
  std::int64_t shrunk = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kGeneratedCases, extras);
    const auto found = oracle::difference(blind, drawn.problem, drawn.options, drawn.truth, seed);
    if (!found) continue;
    const auto simplest = oracle::shrink(blind, drawn.spec, *found, kGeneratedCases, seed);
    const std::string yaml = oracle::to_yaml(simplest.spec);
    const auto specs = load_specs_from_text({{"problem.yaml", yaml}}, {});
    ASSERT_TRUE(specs.has_value()) << "seed " << seed << "\n" << to_string(specs.error()) << yaml;
    const auto problem = bind(*specs->workload, *specs->arch);
    ASSERT_TRUE(problem.has_value()) << "seed " << seed << "\n" << yaml;
    const MapperOptions options = oracle::options_of(simplest.spec);
    const oracle::Enumeration truth = oracle::enumerate(*problem, options, kGeneratedCases);
    EXPECT_EQ(oracle::difference(blind, *problem, options, truth, seed), simplest.difference)
        << "seed " << seed << "\n"
        << yaml;
    ++shrunk;
  }
  EXPECT_GE(shrunk, cases.count / 10);  // three of ten draws have a window of four points
}

}  // namespace
}  // namespace sluice
