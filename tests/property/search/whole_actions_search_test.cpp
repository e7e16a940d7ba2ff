// What `fused` proves where parts of actions cost as much as whole ones, by hand: its prices know
// parts alone, chains know whole ones, too.
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice {
namespace {

/// B[m] = A[m] of 8 bits. X has accesses of 4 values for 10 J and takes B; Y, which A may begin in,
/// accesses of one value for 3 J.
BoundProblem problem(int m) {
  const auto specs = load_specs_from_text({{"problem.yaml", fmt::format(R"yaml(
workload:
  bits_per_value: {{All: 8}}
  rank_sizes: {{M: {}}}
  einsums: ["B[m] = A[m]"]
arch:
  nodes:
  - !Memory
    name: X
    size: inf
    tensors: {{keep: Outputs, may_keep: All}}
    partial_actions: whole
    actions: [{{name: read, energy: 10, throughput: inf, bits_per_action: 32}}, {{name: write, energy: 10, throughput: inf, bits_per_action: 32}}]
  - !Memory
    name: Y
    size: inf
    tensors: {{may_keep: Inputs}}
    actions: [{{name: read, energy: 3, throughput: inf, bits_per_action: 8}}, {{name: write, energy: 3, throughput: inf, bits_per_action: 8}}]
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 0, throughput: 1}}]}}
)yaml",
                                                                        m)}},
                                          {});
  if (!specs) throw std::runtime_error(to_string(specs.error().front()));
  return *bind(*specs->workload, *specs->arch);
}

MapperResult found(const char* mapper, const BoundProblem& problem,
                   std::vector<Objective> objectives = {Objective::kEnergy},
                   Incumbent* incumbent = nullptr, bool has_chains = true) {
  MapperOptions options;
  options.pruning.chains = has_chains;
  options.objectives = std::move(objectives);
  MapperControl control;
  control.incumbent = incumbent;
  auto result = run_mapper(*standard_mappers().find(mapper), problem, options, control);
  if (!result) throw std::runtime_error(result.error().reason);
  return *std::move(result);
}

// 8 values: 2 accesses for A and 2 for B, nothing to round up.
TEST(WholeActionsSearch, ProvesWhatNeedsNoRounding) {
  const MapperResult result = found("fused", problem(8));
  EXPECT_EQ(result.mappings.front().cost.energy_j, 40);
  EXPECT_EQ(result.guarantee.kind, GuaranteeKind::kOptimal);
  const MapperResult front = found("fused", problem(8), {Objective::kEnergy, Objective::kLatency});
  EXPECT_EQ(front.guarantee.kind, GuaranteeKind::kOptimal);
}

// 5 values: 5/4 accesses for either tensor in parts, 25 J, or 3 · 5 + 12.5 J with A in Y. Whole
// ones are 2 · 20 J, or 15 + 20 J.
TEST(WholeActionsSearch, ProvesWhatIsRoundedUpByChains) {
  const MapperResult result = found("fused", problem(5));
  EXPECT_EQ(result.mappings.front().cost.energy_j, 35);
  EXPECT_EQ(result.guarantee.kind, GuaranteeKind::kOptimal);
  const MapperResult best = found("exhaustive", problem(5));
  EXPECT_EQ(best.mappings.front().cost.energy_j, 35);
  EXPECT_EQ(best.guarantee.kind, GuaranteeKind::kOptimal);
}

TEST(WholeActionsSearch, ProvesABoundWithoutChains) {
  const MapperResult result = found("fused", problem(5), {Objective::kEnergy}, nullptr, false);
  EXPECT_EQ(result.mappings.front().cost.energy_j, 40);
  EXPECT_EQ(result.guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(result.guarantee.bound, 25);
}

TEST(WholeActionsSearch, ProvesNothingOfFrontsThatAreRoundedUp) {
  const MapperResult front = found("fused", problem(5), {Objective::kEnergy, Objective::kLatency});
  EXPECT_EQ(front.guarantee.kind, GuaranteeKind::kNone);
  EXPECT_EQ(front.mappings.front().cost.energy_j, 40);
}

TEST(WholeActionsSearch, ReturnsABetterMappingThatItBeginsWith) {
  Incumbent incumbent;
  const MapperResult best = found("exhaustive", problem(5));
  incumbent.offer(35, best.mappings.front());
  const MapperResult result = found("fused", problem(5), {Objective::kEnergy}, &incumbent, false);
  EXPECT_EQ(result.mappings.front().cost.energy_j, 35);
  EXPECT_EQ(result.guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(result.guarantee.bound, 25);
}

TEST(WholeActionsSearch, TellsWhatTheModelSays) {
  std::vector<double> told;
  Incumbent incumbent([&](double objective, const MappedResult& mapped) {
    told.push_back(objective);
    EXPECT_EQ(mapped.cost.energy_j, objective);
  });
  found("fused", problem(5), {Objective::kEnergy}, &incumbent);
  ASSERT_FALSE(told.empty());
  EXPECT_GE(told.back(), 35);
}

}  // namespace
}  // namespace sluice
