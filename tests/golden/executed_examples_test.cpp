// Worked cases of docs/executor.md: every number below stands there with its arithmetic.
#include <gtest/gtest.h>

#include <map>

#include "sluice/frontend/load.h"
#include "sluice/referee/execute.h"
#include "support/folders.h"

namespace sluice {
namespace {

using Counts = std::map<std::string, std::int64_t>;

/// Counts of one action of a component by tensor, all Einsums together.
Counts counts(const Execution& execution, const Specs& specs, const std::string& component,
              const std::string& action) {
  Counts result;
  for (const CountRow& row : execution.counts)
    if ((*specs.arch)[row.component].name == component && row.action == action && row.tensor)
      result[(*specs.workload)[*row.tensor].name] += row.count;
  return result;
}

double peak_bits(const Execution& execution, const Specs& specs, const std::string& memory) {
  for (const PeakOccupancy& row : execution.occupancy)
    if ((*specs.arch)[row.component].name == memory) return row.peak_bits;
  return -1;
}

Specs specs_of(const std::string& text) {
  auto specs = load_specs_from_text({{"case.yaml", text}}, {});
  EXPECT_TRUE(specs) << to_string(specs.error()[0]);
  return std::move(*specs);
}

Execution run(const Specs& specs, const ExecutionOptions& options = {}) {
  return execute(*specs.workload, *specs.arch, specs.mappings.at(0), options);
}

const char* const kArch = R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 4, may_reuse: REUSE}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)";

Specs matmul(const std::string& nodes, const std::string& reuse = "All") {
  std::string arch = kArch;
  arch.replace(arch.find("REUSE"), 5, reuse);
  return specs_of(
      "workload:\n  rank_sizes: {M: 4, K: 8, N: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"C[m,n] = A[m,k] * B[k,n]\"]\n" +
      arch + "mapping:\n  nodes:\n" + nodes);
}

TEST(ExecutedExample, FusedAttentionTakesTheCountsWorkedByHand) {
  const auto file = testing::repository_dir() / "tests/golden/examples/1_fused_attention.yaml";
  const auto specs = load_specs({file.string()}, {});
  ASSERT_TRUE(specs);
  const Execution execution = run(*specs);
  EXPECT_TRUE(execution.is_legal());
  EXPECT_EQ(counts(execution, *specs, "DRAM", "read"), (Counts{{"Q", 64}, {"K", 64}, {"V", 64}}));
  EXPECT_EQ(counts(execution, *specs, "DRAM", "write"), (Counts{{"Z", 64}}));
  EXPECT_EQ(counts(execution, *specs, "GB", "read"), (Counts{{"Q", 512},
                                                             {"K", 512},
                                                             {"V", 512},
                                                             {"QK", 640},
                                                             {"MX", 240},
                                                             {"EX", 640},
                                                             {"DN", 176},
                                                             {"AV", 512},
                                                             {"Z", 64}}));
  EXPECT_EQ(counts(execution, *specs, "GB", "write"), (Counts{{"Q", 64},
                                                              {"K", 64},
                                                              {"V", 64},
                                                              {"Z", 64},
                                                              {"QK", 512},
                                                              {"MX", 128},
                                                              {"EX", 128},
                                                              {"DN", 128},
                                                              {"AV", 512}}));
  EXPECT_EQ(peak_bits(execution, *specs, "GB"), 1056);
  // QK 128, MX 16, EX 128, DN 16, AV 64, Z 64: all of them, equal to the last bit.
  EXPECT_EQ(execution.numbers.compared, 416);
  EXPECT_EQ(execution.numbers.exact, 416);
}

TEST(ExecutedExample, ATwoLevelMatmulReadsPartialSumsBackOnce) {
  const Specs specs = matmul(R"(
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Temporal {rank_variable: k, tile_shape: 4}
  - !Storage {tensors: [C], component: GB}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)");
  const Execution execution = run(specs);
  EXPECT_TRUE(execution.is_legal());
  EXPECT_EQ(counts(execution, specs, "DRAM", "read"), (Counts{{"A", 64}, {"B", 64}, {"C", 8}}));
  EXPECT_EQ(counts(execution, specs, "DRAM", "write"), (Counts{{"C", 16}}));
  EXPECT_EQ(counts(execution, specs, "GB", "read"), (Counts{{"C", 72}}));
  EXPECT_EQ(counts(execution, specs, "GB", "write"), (Counts{{"C", 72}}));
  EXPECT_EQ(peak_bits(execution, specs, "GB"), 64);
}

const char* const kSpreadOverK = R"(
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Spatial {rank_variable: k, tile_shape: 2, component: PE, name: x}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)";

// Four instances with two points of k each: 16 steps. In each the network adds up four partial sums
// on the way: one write, and a read but for the first time.
TEST(ExecutedExample, TheNetworkReducesWhatASpatialLoopDoesNotIndex) {
  const Specs specs = matmul(kSpreadOverK);
  const Execution execution = run(specs);
  EXPECT_TRUE(execution.is_legal());
  EXPECT_EQ(counts(execution, specs, "DRAM", "write"), (Counts{{"C", 16}}));
  EXPECT_EQ(counts(execution, specs, "DRAM", "read").at("C"), 8);
  EXPECT_EQ(execution.compute_steps, 16);
  EXPECT_EQ(execution.merge_values, 0);
}

// Without it every instance writes on its own, 4 x 16, reads 4 x 8, and the first sums of three of
// the four meet what is there already: 3 x 8 merging reads.
TEST(ExecutedExample, WithoutAReductionTheParentMerges) {
  const Specs specs = matmul(kSpreadOverK, "Inputs");
  const Execution execution = run(specs);
  EXPECT_TRUE(execution.is_legal());
  EXPECT_EQ(counts(execution, specs, "DRAM", "write"), (Counts{{"C", 64}}));
  EXPECT_EQ(counts(execution, specs, "DRAM", "read").at("C"), 32);
  EXPECT_EQ(execution.merge_values, 24);
}

TEST(ExecutedExample, AReadOfWhatNobodyHasMadeIsAnError) {
  std::string arch = kArch;
  arch.replace(arch.find("REUSE"), 5, "All");
  const Specs specs = specs_of(
      "workload:\n  rank_sizes: {M: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"T[m] = X[m] * W[m]\", \"U[m] = T[m] + X[m]\"]\n" +
      arch + R"(
mapping:
  nodes:
  - !Storage {tensors: [X, W, T, U], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
)");
  const Execution execution = run(specs);
  ASSERT_FALSE(execution.is_legal());
  EXPECT_EQ(execution.complaints[0].kind, ComplaintKind::kAbsentValue);
  EXPECT_EQ(execution.complaints[0].message, "The Einsum U reads T[0] before anybody has made it.");
}

TEST(ExecutedExample, AListingHasALineForEveryStep) {
  const Specs specs = matmul(kSpreadOverK);
  std::string listing;
  std::int64_t number = 0;
  ExecutionOptions options;
  options.on_step = [&](const ExecutionStep& step) {
    list_step(number++, step, *specs.workload, *specs.arch, listing);
  };
  run(specs, options);
  EXPECT_NE(listing.find("hold  A                        256 bits in DRAM"), std::string::npos)
      << listing;
  EXPECT_NE(listing.find("do    C[0, 0]                  MAC x4"), std::string::npos) << listing;
}

}  // namespace
}  // namespace sluice
