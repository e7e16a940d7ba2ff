// Where `min_usage` alone leaves no mapping, it is named.
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice {
namespace {

/// Of the product, no variable indexes all tensors: it uses one stack. The second Einsum can use
/// both, with a loop above the node of U, which the product has not.
constexpr const char* kProblem = R"yaml(workload:
  rank_sizes: {K: 4, C: 3, P: 2}
  bits_per_value: {All: 8}
  einsums: ["U[k,p] = I[c,p] * W[k,c]", "A[k,p] = tanh(U[k,p])"]
arch:
  nodes:
  - !Memory {name: HBM, size: inf, spatial: [{name: stack, fanout: 2, min_usage: 1}], tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8, throughput: 8}, {name: write, energy: 8, throughput: 8}]}
  - !Memory {name: SRAM, size: 4096, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 64}, {name: write, energy: 1, throughput: 64}]}
  - !Compute {name: ALU, spatial: [{name: lane, fanout: 2, min_usage: 0.5}], actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

BoundProblem problem() {
  const auto specs = load_specs_from_text({{"problem.yaml", kProblem}}, {});
  return *bind(*specs->workload, *specs->arch);
}

TEST(BlamedUsage, NamesTheFanoutWhoseUseLeavesNoMapping) {
  for (const char* mapper : {"fused", "exhaustive"}) {
    const auto outcome = run_mapper(*standard_mappers().find(mapper), problem(), {}, {});
    ASSERT_FALSE(outcome) << mapper;
    EXPECT_TRUE(outcome.error().proven) << mapper;
    EXPECT_EQ(outcome.error().reason.find("min_usage leaves no mapping: HBM.stack. "), 0)
        << outcome.error().reason;
    EXPECT_EQ(outcome.error().nearest_relaxation, "a smaller min_usage of HBM.stack") << mapper;
  }
}

TEST(BlamedUsage, IsAHintWhereABudgetEndedBeforeAMappingWasFound) {
  MapperOptions options;
  options.budget_seconds = 0.05;
  const auto outcome = run_mapper(*standard_mappers().find("random"), problem(), options, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().nearest_relaxation,
            "a larger --budget, or a smaller min_usage of HBM.stack, ALU.lane");
}

}  // namespace
}  // namespace sluice
