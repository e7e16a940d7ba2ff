// The mapper `layers`: each layer at its best alone makes the best of all mappings that exchange
// what layers exchange in the outermost memory, and the whole is executed as it is priced.
#include <gtest/gtest.h>

#include <set>

#include "property/referee/settled_differences.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/network/layer_graph.h"
#include "sluice/network/layers_mapper.h"

namespace sluice {
namespace {

constexpr const char* kBuffer = R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 20, throughput: 4}, {name: write, energy: 20, throughput: 4}]}
  - !Memory {name: Buffer, size: 256, actions: [{name: read, energy: 1.5, throughput: 64}, {name: write, energy: 1.5, throughput: 64}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 16}]}
)yaml";

constexpr const char* kMainAndLanes = R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 20, throughput: 4}, {name: write, energy: 20, throughput: 4}]}
  - !Memory {name: Buffer, size: 512, tensors: {keep: All}, actions: [{name: read, energy: 1.5, throughput: 64}, {name: write, energy: 1.5, throughput: 64}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 2}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

// Ten layers of four Einsums, two of which are one for the mapper; the sum reads what the layer
// before has made, too.
constexpr const char* kResidual = R"yaml(workload:
  rank_sizes: {M: 4, D: 4, N: 6}
  bits_per_value: {All: 8}
  einsums:
  - X[m,d] = IN[m,d] * GAIN[d]
  - repeat: {times: 10, carry: {X: Y}, shared: [V]}
    einsums:
    - Z[m,n] = X[m,d] * W[n,d]
    - A[m,n] = relu(Z[m,n])
    - B[m,d] = A[m,n] * V[d,n]
    - Y[m,d] = X[m,d] + B[m,d]
  - OUT[m] = sum(Y[m,d])
)yaml";

// Layers that copy what they are given, and one state each.
constexpr const char* kRecurrence = R"yaml(workload:
  rank_sizes: {M: 2, T: 4}
  bits_per_value: {All: 8}
  initial: {H: 0}
  einsums:
  - repeat: {times: 20, carry: {IN: Y}}
    einsums:
    - {einsum: "X[m,t] = IN[m,t]", is_copy_operation: true}
    - H[m,t+1] = H[m,t] * G[m] + X[m,t]
    - Y[m,t] = H[m,T_STATE:t] * X[m,t]
)yaml";

// Windows, and padding at both ends.
constexpr const char* kConvolutions = R"yaml(workload:
  rank_sizes: {P0: 6, P1: 6, P2: 6, P3: 6, P4: 6, P5: 6, P6: 6, P7: 6, P8: 6, P9: 6, P10: 6}
  bits_per_value: {All: 8}
  iteration_space_shape: {r: 0 <= r < 3}
  einsums:
  - for: {i: 1..10}
    items: ["T{i}[P{i}:p{i}] = T{i-1}[P{i-1}:p{i}+r-1] * W{i}[r]"]
)yaml";

struct Case {
  const char* workload;
  const char* arch;
};

class Layers : public ::testing::TestWithParam<Case> {
 protected:
  BoundProblem problem() const {
    const std::string text = GetParam().workload + std::string(GetParam().arch);
    const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
    if (!specs) throw std::runtime_error(to_string(specs.error()[0]));
    return bind(*specs->workload, *specs->arch).value();
  }

  static MapperResult run(const Mapper& mapper, const BoundProblem& problem,
                          const MapperOptions& options) {
    auto outcome = run_mapper(mapper, problem, options, {}, all_mappers());
    if (!outcome) throw std::runtime_error(outcome.error().reason);
    return std::move(*outcome);
  }
};

/// `fused` on the whole, which may keep nothing on chip that layers exchange.
MapperOptions without_exchanges(const BoundProblem& problem, MapperOptions options) {
  const LayerGraph graph = layer_graph(problem.workload, layer_starts(problem.workload));
  for (const Lifetime& lifetime : graph.lifetimes)
    if (problem.roles.is_intermediate(lifetime.tensor))
      options.constraints.fusion.push_back(
          {problem.workload[lifetime.tensor].name, lifetime.tensor, false, std::nullopt});
  return options;
}

// Energy and latency of the whole are sums over layers: the best of each make the best of all.
TEST_P(Layers, AreTheBestMappingThatExchangesNothingOnChip) {
  const BoundProblem all = problem();
  for (const Objective objective : {Objective::kEnergy, Objective::kLatency}) {
    MapperOptions options;
    options.objectives = {objective};
    const MapperResult layers = run(*all_mappers().find("layers"), all, options);
    const MapperResult fused =
        run(*all_mappers().find("fused"), all, without_exchanges(all, options));
    const double found = objective_value(objective, layers.mappings.front().cost);
    const double best = objective_value(objective, fused.mappings.front().cost);
    EXPECT_EQ(fused.guarantee.kind, GuaranteeKind::kOptimal);
    EXPECT_NEAR(found, best, 1e-9 * best);
    EXPECT_EQ(layers.guarantee.kind == GuaranteeKind::kGap, found > layers.guarantee.bound);
    EXPECT_LE(layers.guarantee.bound, best * (1 + 1e-9));
  }
}

TEST_P(Layers, AreExecutedAsTheyArePriced) {
  const BoundProblem all = problem();
  const MapperResult layers = run(*all_mappers().find("layers"), all, {});
  const triples::LoadedTriple whole{all, layers.mappings.front().mapping};
  EXPECT_EQ(triples::differences(whole), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(All, Layers,
                         ::testing::Values(Case{kResidual, kBuffer}, Case{kResidual, kMainAndLanes},
                                           Case{kRecurrence, kBuffer},
                                           Case{kConvolutions, kBuffer}));

}  // namespace
}  // namespace sluice
