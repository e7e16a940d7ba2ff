#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "mapper/compound/group.h"
#include "mapper/compound/overlap_bound.h"
#include "mapper/compound/part_tree.h"
#include "mapper/compound/polish.h"
#include "oracle/compound/compound_case.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/mapper/selection.h"
#include "sluice/model/collective_cost.h"
#include "sluice/model/evaluate.h"

namespace sluice::compound {
namespace {

constexpr const char* kProblem = R"yaml(
workload:
  rank_sizes: {M: 4, K: 2, N: 4}
  bits_per_value: {All: 8}
  einsums:
  - "T[m,n] = A[m,k] * B[k,n]"
  - "U[m,n] = exp(T[m,n])"
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 8, bits_per_action: 8, throughput: 1}, {name: write, energy: 8, bits_per_action: 8, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, bits_per_action: 8, throughput: 8}, {name: write, energy: 1, bits_per_action: 8, throughput: 8}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 4}, {name: exp, energy: 1, throughput: 2}]}
)yaml";

Specs specs_with(const std::string& mapping) {
  auto specs = load_specs_from_text({{"problem.yaml", kProblem + mapping}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  return std::move(*specs);
}

/// What follows the root's node.
NodeList below_root_of(const Specs& specs) {
  return {specs.mappings.front().nodes.begin() + 1, specs.mappings.front().nodes.end()};
}

std::string fused(const std::string& kind) {
  return R"yaml(
mapping:
  nodes:
  - !Storage {tensors: [A, B, U], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 2}
  - !Storage {tensors: [T], component: GB}
  - !)yaml" +
         kind +
         R"yaml(
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Temporal {rank_variable: k, tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Storage {tensors: [U], component: GB}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Compute {einsum: U, component: MAC}
)yaml";
}

double bound_of(const Specs& specs, const BoundProblem& problem, double enough_s) {
  const auto group = make_group(problem, {}, 0, 2);
  EXPECT_TRUE(group.has_value());
  std::vector<BoundProblem> alone;
  for (std::size_t e = 0; e < 2; ++e) {
    Group one;
    one.first = e;
    one.end = e + 1;
    alone.push_back(slice(problem, one));
  }
  OverlapBound bound(problem, *group, alone, root_of(problem, {&*group}));
  const double once = bound.latency_s(below_root_of(specs), 2, enough_s);
  EXPECT_EQ(bound.latency_s(below_root_of(specs), 2, enough_s), once);
  return once;
}

// T: 32 points read A and B from DRAM, 64 s. U: its 16 values go back to DRAM, 16 s.
TEST(OverlapBound, AddsUpUnderASequentialSplit) {
  const Specs specs = specs_with(fused("Sequential"));
  const BoundProblem problem = *bind(*specs.workload, *specs.arch);
  const auto cost = evaluate(problem, specs.mappings.front());
  ASSERT_TRUE(cost.has_value());
  EXPECT_DOUBLE_EQ(cost->latency_s, 64 + 16);
  EXPECT_DOUBLE_EQ(bound_of(specs, problem, 1e9), cost->latency_s);
  EXPECT_GT(bound_of(specs, problem, 10), 10) << "enough is enough";
}

// Both use DRAM: 80 s of it, longer than the slower one takes alone.
TEST(OverlapBound, OfAPipelineIsWhatItsChildrenNeedTogether) {
  const Specs specs = specs_with(fused("Pipeline"));
  const BoundProblem problem = *bind(*specs.workload, *specs.arch);
  const auto cost = evaluate(problem, specs.mappings.front());
  ASSERT_TRUE(cost.has_value());
  EXPECT_DOUBLE_EQ(cost->latency_s, 80);
  EXPECT_DOUBLE_EQ(bound_of(specs, problem, 1e9), 80);
}

// A stands below a loop over n that does not index it: 4 fills of 8 values. With the loop below it
// there is one.
TEST(Polish, MovesALoopBelowANodeThatItDoesNotIndex) {
  const Specs specs = specs_with(R"yaml(
mapping:
  nodes:
  - !Storage {tensors: [A, B, T, U], component: DRAM}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Storage {tensors: [A], component: GB}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Temporal {rank_variable: k, tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Compute {einsum: U, component: MAC}
)yaml");
  const BoundProblem problem = *bind(*specs.workload, *specs.arch);
  const StorageNode root = std::get<StorageNode>(specs.mappings.front().nodes.front().kind);
  const auto read_of_a = [&](const NodeList& nodes) {
    const auto cost = evaluate(problem, below_root(root, {nodes}));
    EXPECT_TRUE(cost.has_value());
    double values = 0;
    for (const EnergyRow& row : cost->energy)
      if (row.tensor && (*specs.workload)[*row.tensor].name == "A" &&
          (*specs.arch)[row.component].name == "DRAM")
        values += row.count.value_or(0);
    return values;
  };
  EXPECT_EQ(read_of_a(below_root_of(specs)), 32);
  const Polished polished = polish(
      problem, below_root_of(specs),
      [&](const NodeList& nodes) -> Worth {
        const auto cost = evaluate_totals(problem, below_root(root, {nodes}));
        return cost ? Worth(std::vector{cost->energy_j}) : std::nullopt;
      },
      1000, nullptr);
  ASSERT_FALSE(polished.nodes.empty());
  EXPECT_EQ(read_of_a(polished.nodes), 8);
  EXPECT_LE(polished.priced, 1000);
}

TEST(Polish, GivesBackWhatItGotWhereNothingMayBePriced) {
  const Specs specs = specs_with(fused("Sequential"));
  const NodeList nodes = below_root_of(specs);
  const Polished polished = polish(
      *bind(*specs.workload, *specs.arch), nodes,
      [](const NodeList&) { return Worth(std::vector{1.0}); }, 0, nullptr);
  EXPECT_EQ(polished.nodes, nodes);
  EXPECT_EQ(polished.priced, 0);
}

/// What `compound` says of a chain, least energy asked for.
tl::expected<MapperResult, NoMapping> searched(const std::string& einsums,
                                               const std::string& nodes) {
  const std::string text = "workload: {rank_sizes: {M: 4}, bits_per_value: {All: 8}, einsums: [" +
                           einsums + "]}\n" + "arch:\n  nodes:\n" + nodes + R"yaml(
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 10, throughput: 1}, {name: write, energy: 10, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0, throughput: 1}]}
)yaml";
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  return standard_mappers()
      .find("compound")
      ->map(*bind(*specs->workload, *specs->arch), options, {});
}

// 32 bits each: C reads B from DRAM, 320 J; C stays in GB, 64 J; D goes to DRAM, 320 J. The copy
// within DRAM moves nothing; that its group is worth a look follows from no bound on what it moves.
TEST(CompoundSearch, LeavesNoFreeCopyOutOfTheCuts) {
  const auto found = searched(
      "{einsum: \"B[m] = A[m]\", name: B, is_copy_operation: true}, \"C[m] = B[m] * 2\", "
      "\"D[m] = C[m] * 3\"",
      "");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(found->mappings.front().cost.energy_j, 320 + 64 + 320);
}

TEST(CompoundSearch, RefusesComputesBelowSeveralOutermostMemories) {
  const auto found = searched("\"C[m] = A[m] * 2\"", R"yaml(
  - !Fork
    nodes:
    - !Memory {name: Side, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
    - !Compute {name: SIMD, actions: [{name: compute, energy: 0, throughput: 1}]}
)yaml");
  ASSERT_FALSE(found.has_value());
  EXPECT_FALSE(found.error().proven);
  EXPECT_EQ(found.error().reason,
            "the mapper compound does not know computes below several outermost memories: MAC");
}

// In the whole workload C alone is reused, so that k may be spread; of the first Einsum by itself
// C is the result. 328 J: 6 · (20 + 20) of A and B, 6 · 1, and what C and D move.
TEST(CompoundSearch, MapsEinsumsByTheRulesOfTheWhole) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(
workload:
  rank_sizes: {M: 2, K: 3}
  bits_per_value: {All: 8}
  einsums: ["C[m] = A[m,k] * B[k]", "D[m] = exp(C[m])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, merging_reads: counted, tensors: {keep: "~Intermediates", may_keep: All}, actions: [{name: read, energy: 20, bits_per_action: 8, throughput: 4}, {name: write, energy: 10, bits_per_action: 8, throughput: 2}]}
  - !Container {name: CL, spatial: [{name: cx, fanout: 3, reuse: Intermediates}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  for (const char* name : {"fused", "compound"}) {
    const auto found = run_mapper(*standard_mappers().find(name), problem, options, {});
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
    EXPECT_EQ(found->mappings.front().cost.energy_j, 328) << name;
  }
}

/// Constraints count more than a rule by which the outermost memory keeps all.
TEST(CompoundSearch, FusesWhereAConstraintTakesATensorOutOfTheOutermostMemory) {
  const std::string problem = R"yaml(workload:
  rank_sizes: {M: 4, N: 4}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,n] * B[n]", "Z[m,n] = T[m,n] * C[n]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 7, throughput: 3}, {name: write, energy: 8, throughput: 2}]}
  - !Memory {name: GB, size: 1600, actions: [{name: read, energy: 1, throughput: 16}, {name: write, energy: 2, throughput: 20}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 5, throughput: 1}]}
constraints:
)yaml";
  for (const char* constraint :
       {"  fusion: [{tensor: T}]\n", "  storage: [{memory: DRAM, forbid: T}]\n"}) {
    const auto specs = load_specs_from_text({{"specs.yaml", problem + constraint}}, {});
    ASSERT_TRUE(specs) << to_string(specs.error());
    const BoundProblem bound = *bind(*specs->workload, *specs->arch);
    MapperOptions options;
    options.objectives = {Objective::kEnergy};
    options.constraints = *specs->constraints;
    double energy_j = 0;
    for (const char* mapper : {"fused", "compound"}) {
      const auto found = run_mapper(*standard_mappers().find(mapper), bound, options, {});
      ASSERT_TRUE(found) << mapper << ": " << found.error().reason;
      EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
      const double own = found->mappings.front().cost.energy_j;
      if (energy_j > 0) EXPECT_EQ(own, energy_j);
      energy_j = own;
    }
  }
}

TEST(CompoundSearch, RefusesInputsThatTheOutermostMemoryMayNotHold) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(
workload:
  rank_sizes: {M: 4, K: 4}
  bits_per_value: {All: 8}
  einsums: ["C[m] = A[m,k] * W[k]"]
  renames: {weight: W}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~weight}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: Flash, size: inf, tensors: {keep: weight}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
  const auto found = run_mapper(*standard_mappers().find("compound"), problem, {}, {});
  ASSERT_FALSE(found.has_value());
  EXPECT_FALSE(found.error().proven);
  EXPECT_EQ(found.error().reason,
            "the mapper compound does not know inputs and results that the outermost memory may "
            "not hold: W");
  EXPECT_EQ(default_mapper(problem, {}).mapper->name(), "fused");
  EXPECT_TRUE(run_mapper(*standard_mappers().find("fused"), problem, {}, {}).has_value());
}

// Seed 65 of brute force. Priced alone, a copy from T1's place in GB to DRAM is not free: its nests
// differ, and those spread over the cores take less time, in which OB leaks 4 W. 22.15625 s · 4 W +
// 64 J of actions (X0, X1: 20 J of DRAM, 16 of OB; T1, T2: 4 J of GB, 16 of DRAM; 8 of the ALU).
TEST(CompoundSearch, TellsNestsOfACopyOutOfTheGroupApart) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(
workload:
  rank_sizes: {M: 2}
  bits_per_value: {All: 1}
  einsums:
  - "T1[M:m] = X0[M:m] * X1[M:m]"
  - {einsum: "T2[M:m] = T1[M:m]", name: T2, is_copy_operation: true}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 5, throughput: 4}, {name: write, energy: 8, throughput: 16}]}
  - !Network {name: ClusterNet, topology: all_to_all, channel_width: 2, link_bandwidth: 16, router_latency: 1, queue_latency: 0, hop_energy: 2}
  - !Container {name: Cluster, spatial: [{name: cx, fanout: 2}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1, setup: 2}, {name: write, energy: 1, throughput: 64}]}
  - !Network {name: CoreNet, topology: mesh, channel_width: 8, link_bandwidth: 1, router_latency: 0.125, queue_latency: 0, hop_energy: 0}
  - !Container {name: Core, spatial: [{name: kx, fanout: 2}]}
  - !Memory {name: OB, size: 32, tensors: {keep: ~Intermediates, may_keep: Outputs}, leak_power: 1, actions: [{name: read, energy: 2, throughput: 2}, {name: write, energy: 2, throughput: 2}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 4, throughput: 0.0625}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs.has_value());
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  options.policy = LatencyPolicy::kStaged;
  const auto found =
      standard_mappers().find("compound")->map(*bind(*specs->workload, *specs->arch), options, {});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_DOUBLE_EQ(found->mappings.front().cost.energy_j, 22.15625 * 4 + 64);
}

// T1 and its copy T2 are one reservation of 32 bits, also for T3, which reads both; priced alone,
// T3 knows of no copy. 96 bits of X0 come from DRAM, 32 of T3 go there.
TEST(CompoundSearch, CountsATensorAndItsCopyAtHomeOnce) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(
workload:
  rank_sizes: {M: 3, N: 2}
  bits_per_value: {All: 16}
  einsums:
  - "T1[n] = max(X0[m,n])"
  - {einsum: "T2[n] = T1[n]", name: T2, is_copy_operation: true}
  - "T3[n] = T2[n] * T1[n]"
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: OB, size: 32, tensors: {keep: Nothing, may_keep: Intermediates}, actions: [{name: read, energy: 0, throughput: 1}, {name: write, energy: 0, throughput: 1}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 0, throughput: 1}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs.has_value());
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto found =
      standard_mappers().find("compound")->map(*bind(*specs->workload, *specs->arch), options, {});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(found->mappings.front().cost.energy_j, 96 + 32);
}

// Seven rows on four instances: 4 + 3, in the complete search and in the likely part of the space.
// With perfect factors they follow each other.
TEST(CompoundSearch, FillsInstancesWithUnevenTiles) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(
workload:
  rank_sizes: {M: 7}
  bits_per_value: {All: 8}
  einsums: ["B[m] = exp(A[m])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 4}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs.has_value());
  const BoundProblem problem = *bind(*specs->workload, *specs->arch);
  for (const std::optional<double> budget : {std::optional<double>(), std::optional<double>(3)}) {
    MapperOptions options;
    options.objectives = {Objective::kLatency};
    options.budget_evaluations = budget;
    options.imperfect_factors = ImperfectFactors::kUnfused;
    const auto found = standard_mappers().find("compound")->map(problem, options, {});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->guarantee.kind, budget ? GuaranteeKind::kGap : GuaranteeKind::kOptimal);
    EXPECT_EQ(found->mappings.front().cost.latency_s, 2);
    options.imperfect_factors = ImperfectFactors::kNone;
    EXPECT_EQ(standard_mappers()
                  .find("compound")
                  ->map(problem, options, {})
                  ->mappings.front()
                  .cost.latency_s,
              7);
  }
}

/// A maximum over four cores, and what it is subtracted from, with an all_reduce in between: the
/// least energy with these algorithms (any, where there are none); infinite without a mapping.
double energy_with(const std::vector<std::string>& algorithms, std::optional<double> budget) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(
workload:
  rank_sizes: {M: 1, N: 4}
  bits_per_value: {All: 8}
  einsums: ["MX[m] = max(A[m,n])", "S[m,n] = A[m,n] - MX[m]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 1, throughput: 8}, {name: write, energy: 1, throughput: 8}]}
  - !Network {name: Ring, topology: ring, channel_width: 8, link_bandwidth: 8, router_latency: 1, hop_energy: 1}
  - !Container {name: Core, spatial: [{name: kx, fanout: 4}]}
  - !Memory {name: OB, size: inf, actions: [{name: read, energy: 2, throughput: 64}, {name: write, energy: 4, throughput: 64}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  const BoundProblem problem = *bind(*specs->workload, *specs->arch);
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  options.budget_evaluations = budget;
  const auto& tensors = problem.workload.tensors;
  const auto mx = std::find_if(tensors.begin(), tensors.end(),
                               [](const Tensor& tensor) { return tensor.name == "MX"; });
  options.constraints.collectives.push_back(
      {"reduce", TensorId(static_cast<std::size_t>(mx - tensors.begin())), {}, {"kx"}, algorithms});
  const auto found = standard_mappers().find("compound")->map(problem, options, {});
  return found ? found->mappings.front().cost.energy_j : std::numeric_limits<double>::infinity();
}

// The fastest algorithm, which `auto` takes, is not the one of the least energy here. The likely
// part has `auto`; from there a neighbour has the other.
TEST(CompoundSearch, ChoosesTheAlgorithmOfACollective) {
  std::vector<double> energies;
  for (const std::string& algorithm : standard_collective_algorithms().names())
    energies.push_back(energy_with({algorithm}, std::nullopt));
  const double least = *std::min_element(energies.begin(), energies.end());
  EXPECT_LT(least, energy_with({"auto"}, std::nullopt));
  EXPECT_EQ(energy_with({}, std::nullopt), least);
  EXPECT_EQ(energy_with({"auto", "ring", "tree"}, std::nullopt),
            std::min({energy_with({"auto"}, std::nullopt), energy_with({"ring"}, std::nullopt),
                      energy_with({"tree"}, std::nullopt)}));
  EXPECT_LT(energy_with({}, 500), energy_with({"auto"}, 500));
}

// A group holds the writer of a state and all of its readers, or the writer alone.
TEST(CompoundSearch, MapsAStateThatAnotherEinsumReads) {
  for (const int steps : {1, 3}) {
    const std::string text = R"yaml(
workload:
  rank_sizes: {I: )yaml" + std::to_string(steps) +
                             R"yaml(}
  bits_per_value: {All: 8}
  initial: {H: 0}
  einsums: ["H[i+1] = A[i] * H[i]", "Y[i] = H[i+1] * C[i]"]
arch:
  nodes:
  - !Memory {name: L0, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0, throughput: inf}]}
)yaml";
    const BoundProblem problem = oracle::bind_compound(text);
    const auto compound = run_mapper(*standard_mappers().find("compound"), problem, {}, {});
    ASSERT_TRUE(compound) << compound.error().reason;
    const auto all = run_mapper(*standard_mappers().find("exhaustive"), problem, {}, {});
    ASSERT_TRUE(all) << all.error().reason;
    EXPECT_EQ(compound->mappings.front().cost.energy_j, all->mappings.front().cost.energy_j);
    EXPECT_EQ(compound->mappings.front().cost.latency_s, all->mappings.front().cost.latency_s);
  }
}

TEST(CompoundSearch, LeavesTheRestOfABudgetToFusedWhereOneMappingIsAskedFor) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(
workload:
  rank_sizes: {M: 4, K: 2, N: 4}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,k] * B[k,n]", "U[m,n] = exp(T[m,n])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8, throughput: 1}, {name: write, energy: 8, throughput: 1}]}
  - !Network {name: NoC, topology: mesh, link_bandwidth: 1, hop_energy: 1}
  - !Container {name: PE, spatial: [{name: X, fanout: 4}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 8}, {name: write, energy: 1, throughput: 8}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
  MapperOptions options;
  MapperChoice choice = default_mapper(problem, options);
  EXPECT_EQ(choice.mapper->name(), "compound");
  ASSERT_NE(choice.then, nullptr);
  EXPECT_EQ(choice.then->name(), "fused");
  options.objectives = {Objective::kEnergy, Objective::kLatency};
  choice = default_mapper(problem, options);
  EXPECT_EQ(choice.mapper->name(), "compound");
  EXPECT_EQ(choice.then, nullptr);
}

}  // namespace
}  // namespace sluice::compound
