#include "mapper/request/overridden_rules.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

/// Two Einsums that exchange T on a memory that holds what `outer` says and a buffer that holds the
/// rest, which is slow.
BoundProblem chain_of_two(const std::string& outer) {
  const std::string text =
      R"yaml(workload:
  rank_sizes: {M: 4, N: 2}
  bits_per_value: {All: 16}
  einsums: ["T[m,n] = A[m,n] * B[n]", "Z[m,n] = T[m,n] * C[m]"]
arch:
  nodes:
  - !Memory {name: Outer, size: inf, tensors: {keep: )yaml" +
      outer +
      R"yaml(}, actions: [{name: read, energy: 48, throughput: 32}, {name: write, energy: 48, throughput: 32}]}
  - !Memory {name: Buffer, size: inf, tensors: {keep: ~Outer}, actions: [{name: read, energy: 2, throughput: 8}, {name: write, energy: 6, throughput: 8}]}
  - !Compute {name: Mac, actions: [{name: compute, energy: 2, throughput: 4}]}
)yaml";
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  return *bind(*specs->workload, *specs->arch);
}

// The rules put T into the buffer, a constraint into the outer memory: what the rules bound is no
// bound then, and the best mapping is that of a machine whose rules say the same.
TEST(OverriddenRules, AConstraintPutsATensorWhereTheRulesDoNot) {
  const BoundProblem problem = chain_of_two("~Intermediates");
  const BoundProblem same = chain_of_two("All");
  const TensorId tensor = *find_tensor(problem.workload, "T");
  const Mapper& fused = *standard_mappers().find("fused");
  std::vector<Constraints> all(2);
  all[0].storage.push_back(
      {.name = "", .einsum = {}, .memory = ComponentId(0), .keep = {tensor}, .forbid = {}});
  all[1].fusion.push_back({.name = "", .tensor = tensor, .fused = false, .memory = {}});
  for (const Constraints& constraints : all) {
    MapperOptions options;
    options.constraints = constraints;
    EXPECT_TRUE(may_override_keep(problem, constraints));
    EXPECT_FALSE(may_override_keep(same, constraints));
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      options.objectives = {objective};
      MapperOptions free = options;
      free.constraints = {};
      const auto found = run_mapper(fused, problem, options, {});
      const auto wanted = run_mapper(fused, same, free, {});
      ASSERT_TRUE(found && wanted);
      EXPECT_DOUBLE_EQ(objective_value(objective, found->mappings.front().cost),
                       objective_value(objective, wanted->mappings.front().cost));
    }
  }
}

/// One constraint on some tensor and memory, whatever the rules say.
Constraints drawn_constraints(const BoundProblem& problem, std::mt19937_64* random) {
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>((*random)() % n); };
  std::vector<ComponentId> memories;
  std::vector<TensorId> exchanged;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (problem.arch[ComponentId(c)].is_memory()) memories.emplace_back(c);
  for (std::size_t t = 0; t < problem.workload.tensors.size(); ++t)
    if (problem.roles.is_intermediate(TensorId(t))) exchanged.emplace_back(t);
  const ComponentId memory = memories[pick(memories.size())];
  Constraints constraints;
  if (!exchanged.empty() && pick(2) == 0) {
    FusionConstraint fusion{"drawn", exchanged[pick(exchanged.size())], pick(2) == 0, {}};
    if (fusion.fused && pick(2) == 0) fusion.memory = memory;
    constraints.fusion.push_back(fusion);
    return constraints;
  }
  StorageConstraint storage{
      .name = "drawn", .einsum = {}, .memory = memory, .keep = {}, .forbid = {}};
  const TensorId tensor(pick(problem.workload.tensors.size()));
  (pick(2) == 0 ? storage.keep : storage.forbid).push_back(tensor);
  constraints.storage.push_back(storage);
  return constraints;
}

// Who prices each mapping by the model knows no bounds.
TEST(OverriddenRules, FusedFindsWhatExhaustiveDoesUnderDrawnConstraints) {
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t compared = 0, overridden = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase drawn = oracle::random_case(
        seed, {.max_nests = 300, .max_evaluations = 100}, oracle::kProvenExtras);
    std::mt19937_64 random(seed);
    MapperOptions options = drawn.options;
    options.constraints = drawn_constraints(drawn.problem, &random);
    options.objectives = {static_cast<Objective>(random() % 3)};
    const auto wanted =
        run_mapper(*standard_mappers().find("exhaustive"), drawn.problem, options, {});
    const auto found = run_mapper(*standard_mappers().find("fused"), drawn.problem, options, {});
    if (!wanted && !wanted.error().proven) continue;  // too many
    ASSERT_EQ(found.has_value(), wanted.has_value())
        << (found ? wanted.error().reason : found.error().reason);
    if (!found || wanted->guarantee.kind != GuaranteeKind::kOptimal) continue;
    EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
    const double least = objective_value(options.objectives.front(), wanted->mappings.front().cost);
    EXPECT_NEAR(objective_value(options.objectives.front(), found->mappings.front().cost), least,
                1e-12 * least);
    ++compared;
    overridden += may_override_keep(drawn.problem, options.constraints) ? 1 : 0;
  }
  RecordProperty("compared", static_cast<int>(compared));
  RecordProperty("overridden", static_cast<int>(overridden));
  EXPECT_GE(compared * 3, cases.count);
  EXPECT_GE(overridden * 10, cases.count);
}

}  // namespace
}  // namespace sluice
