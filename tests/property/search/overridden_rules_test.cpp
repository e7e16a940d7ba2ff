#include "mapper/request/overridden_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"

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
  const Mapper& fused = *standard_mappers().find("fused");
  MapperOptions options;
  options.constraints.storage.push_back({.name = "",
                                         .einsum = {},
                                         .memory = ComponentId(0),
                                         .keep = {*find_tensor(problem.workload, "T")},
                                         .forbid = {}});
  EXPECT_TRUE(may_override_keep(problem, options.constraints));
  EXPECT_FALSE(may_override_keep(same, options.constraints));
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

}  // namespace
}  // namespace sluice
