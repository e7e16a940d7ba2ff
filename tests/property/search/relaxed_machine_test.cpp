#include "sluice/mapper/relaxed_bound.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>

#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/mapper/space_bounds.h"

namespace sluice {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// A matmul of 8 × 8 × 8 on a memory, a buffer of `buffer_bits`, and 3 lanes with a register file
/// each, at 1 J for a value of the memory, `buffer_j` for one of the buffer, and 0.25 J for one of
/// a register file.
BoundProblem matmul(const std::string& buffer_bits, const std::string& keep_in_registers,
                    const std::string& buffer_j = "0") {
  const std::string text = R"yaml(workload:
  rank_sizes: {M: 8, K: 8, N: 8}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"]
arch:
  nodes:
  - !Memory
    name: Outer
    size: inf
    tensors: {keep: All}
    actions:
    - {name: read, energy: 1, throughput: inf, bits_per_action: 8}
    - {name: write, energy: 1, throughput: inf, bits_per_action: 8}
  - !Memory
    name: Buffer
    size: )yaml" + buffer_bits +
                           R"yaml(
    actions:
    - {name: read, energy: )yaml" +
                           buffer_j +
                           R"yaml(, throughput: inf, bits_per_action: 8}
    - {name: write, energy: )yaml" +
                           buffer_j +
                           R"yaml(, throughput: inf, bits_per_action: 8}
  - !Container
    name: Lane
    spatial: [{name: X, fanout: 3}]
  - !Memory
    name: Registers
    size: 24
    tensors: {)yaml" + keep_in_registers +
                           R"yaml(}
    actions:
    - {name: read, energy: 0.25, throughput: inf, bits_per_action: 8}
    - {name: write, energy: 0.25, throughput: inf, bits_per_action: 8}
  - !Compute
    name: Mac
    actions: [{name: compute, energy: 2, throughput: 1}]
)yaml";
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  return *bind(*specs->workload, *specs->arch);
}

/// `chains`: they say what lies inside costs.
double bound_of(const BoundProblem& problem, Objective objective, double limit = kUnlimited,
                bool chains = false) {
  MapperOptions options;
  options.objectives = {objective};
  options.pruning.chains = chains;
  return relaxed_bound(problem, options, limit, nullptr, {});
}

// 512 points at 2 J, and each of 3 · 64 values passes the memory once. Registers may be passed by.
TEST(RelaxedMachine, CountsCompulsoryTrafficWhereEverythingFits) {
  const BoundProblem problem = matmul("inf", "may_keep: All");
  EXPECT_NEAR(bound_of(problem, Objective::kEnergy), 1024 + 192, 1e-6);
}

// Each point reads A and B from registers, and writes Z there: 3 · 512 · 0.25 J. All but the first
// sums, on two lanes at most, are read again: (512 - 2 · 64) · 0.25 J. Registers for one value of
// each tensor keep one of them for eight points, best Z: A and B are written for each point, and Z
// is read when it is done: (2 · 512 + 64) · 0.25 J.
TEST(RelaxedMachine, CountsOperandsThatMustComeFromInside) {
  const BoundProblem problem = matmul("inf", "keep: All");
  EXPECT_NEAR(bound_of(problem, Objective::kEnergy), 1024 + 192 + 384 + 96 + 272, 1e-6);
}

// The buffer holds everything, and the registers of all lanes so little that it is read often. The
// bound with the buffer kept is near what there is: the registers' own writes are missing.
TEST(RelaxedMachine, KeepsFurtherMemories) {
  const double free = bound_of(matmul("inf", "keep: All"), Objective::kEnergy);
  const BoundProblem problem = matmul("inf", "keep: All", "0.5");
  const double bound = bound_of(problem, Objective::kEnergy);
  EXPECT_GT(bound, free + 200);
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto best = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  ASSERT_TRUE(best);
  EXPECT_LE(bound, best->mappings.front().cost.energy_j);
  EXPECT_GT(bound, 0.75 * best->mappings.front().cost.energy_j);
}

// Of one Einsum chains know all.
TEST(RelaxedMachine, KnowsByChainsWhatLiesInside) {
  const BoundProblem problem = matmul("inf", "keep: All", "0.5");
  for (const Objective objective : {Objective::kEnergy, Objective::kEdp}) {
    MapperOptions options;
    options.objectives = {objective};
    const auto best = run_mapper(*standard_mappers().find("fused"), problem, options, {});
    ASSERT_TRUE(best);
    const double optimum = objective_value(objective, best->mappings.front().cost);
    EXPECT_NEAR(bound_of(problem, objective, kUnlimited, true), optimum, 1e-9 * optimum);
    EXPECT_LT(bound_of(problem, objective), 0.999 * optimum);
  }
}

// No variable may spread over the lanes: 512 points one by one. Registers that hold no Z leave it
// to the buffer, where each point writes a sum and all but the first read one: 512 + 448 values.
TEST(RelaxedMachine, HeedsConstraints) {
  const BoundProblem problem = matmul("inf", "may_keep: All", "10");
  MapperOptions options;
  options.constraints.spatial.push_back(
      {.name = "", .einsum = {}, .component = ComponentId(2), .dimension = 0, .variables = {}});
  const ComponentId registers(3);
  const TensorId z = problem.workload.einsums.front().accesses.back().tensor;
  options.constraints.storage.push_back(
      {.name = "", .einsum = {}, .memory = registers, .keep = {}, .forbid = {z}});
  options.constraints.storage.push_back(
      {.name = "", .einsum = {}, .memory = ComponentId(1), .keep = {z}, .forbid = {}});
  options.objectives = {Objective::kLatency};
  EXPECT_NEAR(relaxed_bound(problem, options, kUnlimited, nullptr, {}), 512, 1e-9);
  options.objectives = {Objective::kEnergy};
  const double bound = relaxed_bound(problem, options, kUnlimited, nullptr, {});
  EXPECT_GE(bound, 1024 + 192 + 9600 - 1e-6);
  const auto best = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  ASSERT_TRUE(best);
  EXPECT_LE(bound, best->mappings.front().cost.energy_j);
}

// 2 lanes of 3 have perfect factors: 256 s.
TEST(RelaxedMachine, UsesNoMoreLanesThanDivide) {
  const BoundProblem problem = matmul("inf", "keep: All");
  EXPECT_NEAR(bound_of(problem, Objective::kLatency), 256, 1e-9);
  MapperOptions options;
  const Mapper& fused = *standard_mappers().find("fused");
  EXPECT_NEAR(space_bounds(fused, problem, options).compute_s, 256, 1e-9);
  EXPECT_NEAR(problem.bounds.compute_s, 512.0 / 3, 1e-9);
  options.imperfect_factors = ImperfectFactors::kAll;
  EXPECT_NEAR(space_bounds(fused, problem, options).compute_s, 512.0 / 3, 1e-9);
  EXPECT_FALSE(takes_relaxed_bound(fused, problem, options));
}

// 19 values inside (a buffer of 7, 2 · 3 in registers, 2 · 3 at the lanes) hold no whole operand:
// more than the compulsory traffic.
TEST(RelaxedMachine, KnowsHowMuchFitsInside) {
  const double small = bound_of(matmul("56", "may_keep: All"), Objective::kEnergy);
  EXPECT_GT(small, 1024 + 192 + 100);
  const double larger = bound_of(matmul("512", "may_keep: All"), Objective::kEnergy);
  EXPECT_LT(larger, small);
  EXPECT_GE(larger, 1024 + 192 - 1e-6);
}

// The memory's own values cost so much that nothing near the limit goes past the registers.
TEST(RelaxedMachine, AddsOperandsThatWouldBeTooDearFromOutside) {
  const BoundProblem problem = matmul("inf", "may_keep: All", "0.5");
  const double free = bound_of(problem, Objective::kEnergy);
  const double limited = bound_of(problem, Objective::kEnergy, 1.05 * free);
  EXPECT_GT(limited, free);
  EXPECT_LE(limited, 1.05 * free);
}

TEST(RelaxedMachine, EndsWhereItIsCancelled) {
  const std::atomic<bool> cancelled{true};
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  EXPECT_EQ(relaxed_bound(matmul("56", "may_keep: All"), options, kUnlimited, &cancelled, {}), 0);
}

}  // namespace
}  // namespace sluice
