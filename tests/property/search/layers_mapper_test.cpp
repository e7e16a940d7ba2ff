// The mapper `layers`: each layer at its best alone makes the best of all mappings that exchange
// what layers exchange in the outermost memory, and the whole is executed as it is priced. A search
// of the whole that begins with it is no worse.
#include <gtest/gtest.h>

#include <set>

#include "property/referee/settled_differences.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/network/layer_graph.h"
#include "sluice/network/layers_mapper.h"
#include "sluice/network/network_search.h"

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

// Weights in a memory of their own, all else further in.
constexpr const char* kController = R"yaml(arch:
  nodes:
  - !Memory {name: Flash, size: inf, tensors: {keep: weight}, actions: [{name: read, energy: 30, throughput: 4}, {name: write, energy: 0, throughput: inf}]}
  - !Memory {name: SRAM, size: 700, tensors: {keep: ~weight, may_keep: All}, actions: [{name: read, energy: 1.5, throughput: 32}, {name: write, energy: 1.5, throughput: 32}]}
  - !Memory {name: Regs, size: 80, tensors: {may_keep: All}, actions: [{name: read, energy: 0.05, throughput: inf}, {name: write, energy: 0.05, throughput: inf}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 5, throughput: 1}]}
)yaml";

// The network's own values come from outside and return there, all others stay on chip.
constexpr const char* kOnChip = R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 20, throughput: 4}, {name: write, energy: 20, throughput: 4}]}
  - !Memory {name: Buffer, size: 700, tensors: {may_keep: All}, actions: [{name: read, energy: 1.5, throughput: 64}, {name: write, energy: 1.5, throughput: 64}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 16}]}
)yaml";

std::string renamed(std::string einsums) {
  return R"yaml(workload:
  rank_sizes: {M: 4, D: 4, N: 4}
  bits_per_value: {All: 8}
  einsums:
)yaml" + std::move(einsums) +
         R"yaml(renames:
  einsums:
  - name: default
    tensor_accesses:
    - {name: weight, source: Nothing}
)yaml";
}

std::string chain(int times) {
  return renamed("  - repeat: {times: " + std::to_string(times) + R"yaml(, carry: {X: Y}}
    einsums:
    - {einsum: "Z[m,n] = X[m,d] * W[d,n]", renames: {weight: W}}
    - "Y[m,D:n] = max(Z[m,n], 0)"
)yaml");
}

// A sum at the end keeps what the first layer reads across all others.
std::string residual() {
  return renamed(R"yaml(  - "S[m,d] = IN[m,d] + IN[m,d]"
  - repeat: {times: 10, carry: {X: Y}}
    einsums:
    - {einsum: "Z[m,n] = X[m,d] * W[d,n]", renames: {weight: W}}
    - "A[m,n] = max(Z[m,n], 0)"
    - {einsum: "B[m,d] = A[m,n] * V[n,d]", renames: {weight: V}}
    - "Y[m,d] = X[m,d] + B[m,d]"
  - "OUT[m,d] = Y[m,d] + S[m,d]"
)yaml");
}

BoundProblem problem_of(const std::string& workload, const char* arch) {
  const auto specs = load_specs_from_text({{"problem.yaml", workload + arch}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()[0]));
  return bind(*specs->workload, *specs->arch).value();
}

MapperResult by_layers(const BoundProblem& problem) {
  auto found = run_mapper(*all_mappers().find("layers"), problem, {}, {}, all_mappers());
  if (!found) throw std::runtime_error(found.error().reason);
  return std::move(*found);
}

TEST(LayerHomes, AreFurtherInWhereTheOutermostMemoryMayNotHold) {
  for (const char* arch : {kController, kOnChip})
    for (const std::string& workload : {chain(33), chain(34), residual()}) {
      const BoundProblem all = problem_of(workload, arch);
      const MapperResult layers = by_layers(all);
      ASSERT_EQ(layers.mappings.size(), 1U);
      const triples::LoadedTriple whole{all, layers.mappings.front().mapping};
      EXPECT_EQ(triples::differences(whole), std::vector<std::string>{});
    }
}

// The exact search goes on from what the layers have.
TEST(SearchFromLayers, IsNoWorseThanLayersAndProven) {
  const BoundProblem all = problem_of(chain(40), kController);
  MapperOptions options;
  options.budget_seconds = 20;  // ends with a proof, much sooner
  const MapperChoice choice = default_network_mapper(all, options);
  ASSERT_NE(choice.first, nullptr);
  EXPECT_EQ(choice.first->name(), "layers");
  EXPECT_EQ(choice.mapper->name(), "fused");
  const auto found = search_network(choice, all, options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  const auto edp = [](const MapperResult& result) {
    return objective_value(Objective::kEdp, result.mappings.front().cost);
  };
  EXPECT_LE(edp(*found), edp(by_layers(all)) * (1 + 1e-9));
}

TEST(SearchFromLayers, GoesOnWhereTheyHaveNothing) {
  struct Nothing : Mapper {
    std::string name() const override { return "nothing"; }
    std::string description() const override { return "finds nothing"; }
    tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                              const MapperControl&) const override {
      NoMapping no;
      no.proven = false;
      return tl::make_unexpected(no);
    }
  };
  const Nothing nothing;
  const BoundProblem all = problem_of(chain(2), kController);
  const Mapper* fused = all_mappers().find("fused");
  const auto found = search_network({fused, "", &nothing}, all, {}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  // And the other way round: what it began with is the answer.
  const auto kept = search_network({&nothing, "", fused}, all, {}, {});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->mappings.size(), 1U);
  // What it cannot answer, the next one does, also without a budget.
  const auto next = search_network({&nothing, "", nullptr, fused}, all, {}, {});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->guarantee.kind, GuaranteeKind::kOptimal);
}

/// A mapper that takes the first mapping it draws, and says that its time has ended.
struct FirstDrawn : Mapper {
  std::string name() const override { return "first"; }
  std::string description() const override { return "the first of some mappings"; }
  bool makes_collectives() const override { return true; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl&) const override {
    MapperOptions few = options;
    few.budget_evaluations = 1;
    auto found = run_mapper(*all_mappers().find("random"), problem, few, {});
    if (!found) return found;
    found->guarantee.kind = GuaranteeKind::kGap;
    if (options.budget_seconds) found->search.ended_by = "budget";
    return found;
  }
};

// With a budget the next one has a look, whether the first one ever ends by itself or not.
TEST(SearchThen, KnowsTheProofOfTheNextMapper) {
  const FirstDrawn first;
  const BoundProblem all = problem_of(chain(2), kController);
  MapperOptions options;
  options.budget_seconds = 60;
  const auto found =
      search_network({&first, "", nullptr, all_mappers().find("fused")}, all, options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
}

// Where the first one stands in for another and there is no budget, a fixed number of mappings may
// beat what the first one ends with, and no clock has a say in it.
TEST(SearchThen, AnnealsWhereThereIsAGap) {
  const FirstDrawn first;
  const BoundProblem all = problem_of(chain(2), kController);
  const auto search = [&](int threads, const char* reason) {
    MapperOptions options;
    options.threads = threads;
    const auto found = search_network({&first, reason}, all, options, {});
    EXPECT_TRUE(found);
    if (!found) return 0.0;
    return objective_value(Objective::kEdp, found->mappings.front().cost);
  };
  const char* stands_in = "fused does not know this";
  EXPECT_LT(search(1, stands_in), search(1, ""));
  EXPECT_EQ(search(1, stands_in), search(2, stands_in));
}

}  // namespace
}  // namespace sluice
