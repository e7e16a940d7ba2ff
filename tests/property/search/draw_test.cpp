// Where an Einsum has more templates than are to be tried, some are drawn: what comes out is legal,
// never better than the optimum of them all, and claims no proof.
#include <gtest/gtest.h>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

TEST(Draw, FindsLegalMappingsAndProvesNothing) {
  const Mapper& fused = *standard_mappers().find("fused");
  const testing::RandomCases cases = testing::random_cases(40);
  int drawn = 0, best = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase own =
        oracle::random_case(seed, {.max_nests = 500, .max_evaluations = 50}, oracle::kAllExtras);
    MapperOptions options = own.options;
    options.objectives.resize(1);
    options.resource_usage = false;
    options.top = 1;
    options.epsilon = 0;
    const auto all = run_mapper(fused, own.problem, options, {});
    options.max_templates = 1;
    const auto some = run_mapper(fused, own.problem, options, {});
    ASSERT_EQ(some.has_value(), all.has_value()) << "seed " << seed;
    if (!all) continue;
    const auto value = [&](const MapperResult& result) {
      return objective_value(options.objectives.front(), result.mappings.front().cost);
    };
    const MappedResult& found = some->mappings.front();
    const auto cost = evaluate(own.problem, found.mapping, options.policy);
    ASSERT_TRUE(cost.has_value()) << "seed " << seed;
    EXPECT_EQ(*cost, found.cost) << "seed " << seed;
    EXPECT_GE(value(*some), value(*all) * (1 - 1e-12)) << "seed " << seed;
    if (some->search.ended_by != "templates") {  // each Einsum has one
      EXPECT_EQ(some->guarantee.kind, GuaranteeKind::kOptimal) << "seed " << seed;
      continue;
    }
    ++drawn;
    if (value(*some) <= value(*all) * (1 + 1e-12)) ++best;
    EXPECT_LE(some->guarantee.bound, value(*all) * (1 + 1e-12)) << "seed " << seed;
    if (some->guarantee.kind == GuaranteeKind::kOptimal)  // it meets the bound
      EXPECT_NEAR(value(*some), value(*all), 1e-12 * value(*all)) << "seed " << seed;
    else
      EXPECT_EQ(some->guarantee.kind, GuaranteeKind::kGap) << "seed " << seed;
  }
  EXPECT_GT(drawn, cases.count / 4);
  EXPECT_GT(2 * best, drawn);  // small problems: most draws meet the optimum
}

/// A convolution on a machine with more templates than are tried without a draw before.
BoundProblem many_templates(const std::string& fanout) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(workload:
  rank_sizes: {P: 7, Q: 7, C: 6, K: 8, R: 3, S: 3}
  bits_per_value: {All: 8}
  einsums: ["Y[k,p,q] = A[c,H:p+r,W:q+s] * F[k,c,r,s]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 100, throughput: 8}, {name: write, energy: 100, throughput: 8}]}
  - !Memory {name: Shared, size: 8192, tensors: {keep: All}, actions: [{name: read, energy: 6, throughput: 64}, {name: write, energy: 6, throughput: 64}]}
  - !Container {name: PE, spatial: [)yaml" + fanout + R"yaml(]}
  - !Memory {name: RF, size: 512, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  EXPECT_TRUE(specs.has_value());
  return *bind(*specs->workload, *specs->arch);
}

TEST(Draw, LeavesTheOptimumAsItIs) {
  const Mapper& fused = *standard_mappers().find("fused");
  for (const char* fanout : {"{name: x, fanout: 4}", "{name: x, fanout: 5, min_usage: 1}"}) {
    const BoundProblem problem = many_templates(fanout);
    MapperOptions options;
    options.threads = 2;
    const auto without = fused.map(problem, options, {});  // there is nobody to tell
    const auto with = run_mapper(fused, problem, options, {});
    ASSERT_TRUE(without.has_value() && with.has_value());
    EXPECT_EQ(with->guarantee.kind, GuaranteeKind::kOptimal);
    EXPECT_EQ(with->mappings.front().cost.edp_js(), without->mappings.front().cost.edp_js());
  }
}

}  // namespace
}  // namespace sluice
