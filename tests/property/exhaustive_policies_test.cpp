// The mappers that price whole mappings by the model, under every latency policy and with networks
// and arrays: what `exhaustive` calls optimal is what the referee's brute force finds.
#include <gtest/gtest.h>

#include "oracle/enumerate.h"
#include "oracle/random_problem.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr double kRounding = 1e-12;  ///< sums of the same terms in another order

using Outcome = tl::expected<MapperResult, NoMapping>;

const std::optional<oracle::PricedMapping>& best_of(const oracle::Enumeration& truth,
                                                    Objective objective) {
  if (objective == Objective::kEnergy) return truth.best_energy;
  return objective == Objective::kLatency ? truth.best_latency : truth.best_edp;
}

/// False: one of them has too much to do.
bool compare(const BoundProblem& problem, MapperOptions options, const std::string& text) {
  oracle::EnumerationLimits limits;
  limits.max_nests = 5'000;
  limits.max_evaluations = 5'000;
  limits.keep_dominated_nests = true;
  const oracle::Enumeration truth = oracle::enumerate(problem, options, limits);
  if (truth.exceeded) return false;
  const Objective objective = options.objectives.front();
  options.budget_evaluations = 20'000;
  const Outcome all = run_mapper(*find_mapper("exhaustive"), problem, options, {});
  if (all ? all->guarantee.kind != GuaranteeKind::kOptimal : !all.error().proven) return false;
  EXPECT_EQ(all.has_value(), best_of(truth, objective).has_value()) << text;
  if (!all || !best_of(truth, objective)) return true;
  const oracle::Point& best = best_of(truth, objective)->point;
  const double expected = objective_value(objective, best.energy_j, best.latency_s);
  const MappedResult& found = all->mappings.front();
  EXPECT_NEAR(objective_value(objective, found.cost), expected, kRounding * expected)
      << text << to_yaml(found.mapping, problem.workload, problem.arch)
      << to_yaml(best_of(truth, objective)->mapping, problem.workload, problem.arch);
  const auto cost = evaluate(problem, found.mapping, options.policy);
  EXPECT_TRUE(cost && *cost == found.cost);
  return true;
}

class Policies : public ::testing::TestWithParam<LatencyPolicy> {};

TEST_P(Policies, ExhaustiveFindsWhatBruteForceFinds) {
  const testing::RandomCases cases = testing::random_cases(150);
  const oracle::Extras extras{.tolls = true, .behaviours = true};
  int compared = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::ProblemSpec spec = oracle::random_problem(seed, extras);
    MapperOptions options = oracle::options_of(spec);
    options.policy = GetParam();
    options.objectives = {objective_table()[seed % objective_table().size()].objective};
    compared += compare(oracle::bind_problem(spec), options,
                        "seed " + std::to_string(seed) + "\n" + oracle::to_yaml(spec));
  }
  EXPECT_GT(compared, cases.count / 10);
}

constexpr const char* kClusters = R"(workload:
  rank_sizes: {M: 4, N: 2, P: 2}
  bits_per_value: {All: 8}
  einsums: ["B[m,n] = A[m] * W[m,n]", "C[m,p] = B[m,n] * V[n,p]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 8, throughput: 8}, {name: write, energy: 8, throughput: 8}]}
  - !Network {name: Mesh, topology: mesh, channel_width: 8, link_bandwidth: 16, hop_energy: 2,
              router_latency: 1, queue_latency: 1}
  - !Container {name: Cluster, spatial: [{name: x, fanout: 2}]}
  - !Memory {name: Buffer, size: 96, tensors: {keep: ~Main, may_keep: All},
             actions: [{name: read, energy: 1, throughput: 32}, {name: write, energy: 1, throughput: 32}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: ws, rows: r, cols: c},
                spatial: [{name: r, fanout: 2}, {name: c, fanout: 2}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)";

TEST_P(Policies, ExhaustiveFindsWhatBruteForceFindsWithNetworksAndArrays) {
  const auto specs = load_specs_from_text({{"problem.yaml", kClusters}}, {});
  ASSERT_TRUE(specs) << to_string(specs.error().front());
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem);
  for (const ObjectiveInfo& info : objective_table()) {
    MapperOptions options;
    options.policy = GetParam();
    options.objectives = {info.objective};
    EXPECT_TRUE(compare(*problem, options, info.name + "\n"));
  }
}

TEST_P(Policies, SamplingMappersFindNothingBetter) {
  const auto specs = load_specs_from_text({{"problem.yaml", kClusters}}, {});
  ASSERT_TRUE(specs);
  const auto problem = bind(*specs->workload, *specs->arch);
  MapperOptions options;
  options.policy = GetParam();
  options.budget_evaluations = 20'000;
  const Outcome all = run_mapper(*find_mapper("exhaustive"), *problem, options, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->guarantee.space.ends_with(latency_policy_name(GetParam())),
            GetParam() != LatencyPolicy::kOverlap);
  options.budget_evaluations = 1'000;
  for (const char* name : {"random", "anneal", "genetic", "iterative"}) {
    const Outcome sampled = run_mapper(*find_mapper(name), *problem, options, {});
    ASSERT_TRUE(sampled) << name;
    const MappedResult& best = sampled->mappings.front();
    EXPECT_GE(best.cost.edp_js(), (1 - kRounding) * all->mappings.front().cost.edp_js()) << name;
    const auto cost = evaluate(*problem, best.mapping, options.policy);
    EXPECT_TRUE(cost && *cost == best.cost) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Policies,
                         ::testing::Values(LatencyPolicy::kOverlap, LatencyPolicy::kPipeline,
                                           LatencyPolicy::kStaged),
                         [](const auto& info) { return latency_policy_name(info.param); });

}  // namespace
}  // namespace sluice
