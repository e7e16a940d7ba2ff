// More places for loops than a word has bits: five memories, seven variables.
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

std::string memory(const std::string& name, const std::string& size, const std::string& energy) {
  return "  - !Memory {name: " + name + ", size: " + size +
         ", tensors: {keep: All}, actions: [{name: read, energy: " + energy +
         ", throughput: 64}, {name: write, energy: " + energy + ", throughput: 64}]}\n";
}

BoundProblem convolution(const std::string& sizes) {
  const auto specs = load_specs_from_text({{"loops.yaml", R"yaml(workload:
  rank_sizes: {)yaml" + sizes + R"yaml(}
  bits_per_value: {All: 8}
  einsums:
  - "Z[n,k,p,q] = A[n,c,Y:p+r,X:q+s] * W[k,c,r,s]"
arch:
  nodes:
)yaml" + memory("Main", "inf", "64") + memory("L0", "16384", "16") +
                                                              memory("L1", "4096", "8") +
                                                              memory("L2", "1024", "4") +
                                                              R"yaml(
  - !Container {name: PE, spatial: [{name: x, fanout: 2}, {name: y, fanout: 2}]}
)yaml" + memory("RF", "256", "1") +
                                                              R"yaml(
  - !Compute {name: MAC, spatial: [{name: lane, fanout: 2}], actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  EXPECT_TRUE(specs.has_value());
  return *bind(*specs->workload, *specs->arch);
}

TEST(ManyLoops, ABudgetThatEndsBeforeAnyMappingLeavesDrawnOnesAndAGap) {
  const BoundProblem problem = convolution("N: 4, K: 16, C: 16, P: 14, Q: 14, R: 3, S: 3");
  MapperOptions options;
  options.pruning.chains = false;  // which prove it sooner
  options.budget_seconds = 3;
  auto found = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  // On a slow machine the first draw takes longer.
  for (options.budget_seconds = 12; !found && *options.budget_seconds < 200;
       options.budget_seconds = *options.budget_seconds * 4)
    found = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  ASSERT_TRUE(found.has_value());
  ASSERT_FALSE(found->mappings.empty());
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_GT(found->guarantee.bound, 0);
  EXPECT_LE(found->guarantee.bound, found->mappings.front().cost.edp_js());
}

}  // namespace
}  // namespace sluice
