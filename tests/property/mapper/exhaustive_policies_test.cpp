// The mappers that price whole mappings by the model, under every latency policy, with networks and
// arrays: nothing that is drawn from the space of `exhaustive` beats what it calls optimal.
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/problem/random_problem.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr double kRounding = 1e-12;  ///< sums of the same terms in another order

using Outcome = tl::expected<MapperResult, NoMapping>;

void expect_price(const BoundProblem& problem, const MappedResult& mapped, LatencyPolicy policy) {
  const auto cost = evaluate(problem, mapped.mapping, policy);
  EXPECT_TRUE(cost && *cost == mapped.cost);
  const CostBounds& bounds = problem.bounds;
  EXPECT_GE(mapped.cost.latency_s, (1 - kRounding) * std::max(bounds.compute_s, bounds.memory_s));
  EXPECT_GE(mapped.cost.energy_j, (1 - kRounding) * bounds.energy_floor_j);
}

/// False: too many mappings to visit.
bool compare(const BoundProblem& problem, MapperOptions options, const std::string& text) {
  const Objective objective = options.objectives.front();
  options.budget_evaluations = 2'000;
  const Outcome all = run_mapper(*standard_mappers().find("exhaustive"), problem, options, {});
  if (all ? all->guarantee.kind != GuaranteeKind::kOptimal : !all.error().proven) return false;
  if (all) expect_price(problem, all->mappings.front(), options.policy);
  options.budget_evaluations = 100;
  for (const char* name : {"random", "anneal", "genetic", "iterative"}) {
    const Outcome sampled = run_mapper(*standard_mappers().find(name), problem, options, {});
    if (!sampled) continue;
    EXPECT_TRUE(all) << name << "\n" << text;
    if (!all) continue;
    const MappedResult& best = sampled->mappings.front();
    expect_price(problem, best, options.policy);
    EXPECT_GE(objective_value(objective, best.cost),
              (1 - kRounding) * objective_value(objective, all->mappings.front().cost))
        << name << "\n"
        << text << to_yaml(best.mapping, problem.workload, problem.arch);
  }
  return true;
}

class Policies : public ::testing::TestWithParam<LatencyPolicy> {};

TEST_P(Policies, NothingDrawnBeatsTheOptimum) {
  const testing::RandomCases cases = testing::random_cases(12);
  const oracle::Extras extras{.tolls = true, .behaviours = true};
  int compared = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::ProblemSpec spec = oracle::random_problem(seed, extras);
    MapperOptions options = oracle::options_of(spec);
    options.policy = GetParam();
    options.seed = seed;
    options.objectives = {objective_table()[seed % objective_table().size()].objective};
    compared += compare(oracle::bind_problem(spec), options,
                        "seed " + std::to_string(seed) + "\n" + oracle::to_yaml(spec));
  }
  EXPECT_GT(compared, 0);
}

constexpr const char* kClusters = R"yaml(workload:
  rank_sizes: {M: 2, N: 2, K: 2}
  bits_per_value: {All: 8}
  einsums: ["B[m,n] = A[m,k] * W[k,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All},
             actions: [{name: read, energy: 8, throughput: 8}, {name: write, energy: 8, throughput: 8}]}
  - !Network {name: Mesh, topology: mesh, channel_width: 8, link_bandwidth: 16, hop_energy: 2,
              router_latency: 1, queue_latency: 1}
  - !Container {name: Cluster, spatial: [{name: x, fanout: 2}]}
  - !Memory {name: Buffer, size: 96, tensors: {keep: All},
             actions: [{name: read, energy: 1, throughput: 32}, {name: write, energy: 1, throughput: 32}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: ws, rows: r, cols: c},
                spatial: [{name: r, fanout: 2}, {name: c, fanout: 2}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

TEST_P(Policies, NothingDrawnBeatsTheOptimumWithNetworksAndArrays) {
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

TEST_P(Policies, TheGuaranteeNamesThem) {
  const BoundProblem problem = oracle::bind_problem(oracle::random_problem(1));
  MapperOptions options;
  options.policy = GetParam();
  options.budget_evaluations = 10;
  const Outcome all = run_mapper(*standard_mappers().find("exhaustive"), problem, options, {});
  ASSERT_TRUE(all);
  const bool names = all->guarantee.space.find("latency " + GetParam().name() +
                                               ", loops between two storage nodes in one order") !=
                     std::string::npos;
  EXPECT_EQ(names, GetParam() != LatencyPolicy::kOverlap) << all->guarantee.space;
}

INSTANTIATE_TEST_SUITE_P(All, Policies,
                         ::testing::Values(LatencyPolicy::kOverlap, LatencyPolicy::kPipeline,
                                           LatencyPolicy::kStaged),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace sluice
