// Transposed convolutions in two dimensions, as a library would have them: what the mapper proves
// is executed as it is priced, and no other mapper finds a better one.
#include <gtest/gtest.h>

#include "settled_differences.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice {
namespace {

constexpr const char* kTransposed = R"yaml(workload:
  rank_sizes: {N: 1, K: 2, C: 2, P: 2, Q: 4, R: 3, S: 3}
  bits_per_value: {All: 8}
  einsums: ["dX[n,c,XH:2*p+r,XW:2*q+s] = dY[n,k,p,q] * W[k,c,r,s]"]
)yaml";

// A buffer and a compute.
constexpr const char* kSimple = R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, actions: [{name: read, energy: 20, throughput: 4}, {name: write, energy: 20, throughput: 4}]}
  - !Memory {name: Buffer, size: 512, tensors: {keep: All}, actions: [{name: read, energy: 1.5, throughput: 64}, {name: write, energy: 1.5, throughput: 64}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 16}]}
)yaml";

// Elements in two dimensions, with a register file each.
constexpr const char* kElements = R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, actions: [{name: read, energy: 20, throughput: 4}, {name: write, energy: 20, throughput: 4}]}
  - !Memory {name: Buffer, size: 1 Kib, tensors: {keep: All}, actions: [{name: read, energy: 1.5, throughput: 64}, {name: write, energy: 1.5, throughput: 64}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 4}, {name: y, fanout: 4}]}
  - !Memory {name: RF, size: 128, tensors: {keep: All}, actions: [{name: read, energy: 0.1, throughput: 4}, {name: write, energy: 0.1, throughput: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

MapperResult run(const char* mapper, const BoundProblem& problem, const MapperOptions& options) {
  auto outcome = run_mapper(*standard_mappers().find(mapper), problem, options, {});
  if (!outcome) throw std::runtime_error(outcome.error().reason);
  return std::move(*outcome);
}

class TransposedConvolution : public ::testing::TestWithParam<const char*> {};

TEST_P(TransposedConvolution, IsMappedToWhatIsExecutedAndNobodyBeatsIt) {
  const auto specs =
      load_specs_from_text({{"problem.yaml", kTransposed + std::string(GetParam())}}, {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error()[0]);
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem.has_value());
  MapperOptions options;
  for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
    options.objectives = {objective};
    options.budget_evaluations.reset();
    const MapperResult fused = run("fused", *problem, options);
    EXPECT_EQ(fused.guarantee.kind, GuaranteeKind::kOptimal);
    const triples::LoadedTriple best{*problem, fused.mappings.front().mapping};
    EXPECT_EQ(triples::differences(best), std::vector<std::string>{});
    options.budget_evaluations = 1000;
    const auto value = [&](const MapperResult& result) {
      const Cost& cost = result.mappings.front().cost;
      return objective_value(objective, cost.energy_j, cost.latency_s);
    };
    for (const char* other : {"random", "genetic"})
      EXPECT_LE(value(fused), value(run(other, *problem, options)) * (1 + 1e-12)) << other;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransposedConvolution, ::testing::Values(kSimple, kElements));

}  // namespace
}  // namespace sluice
