// What is too small is known without a search, and said as the search of one Einsum says it.
#include "mapper/run/too_small.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/compare.h"
#include "oracle/compound/compound_case.h"
#include "oracle/enumerate.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

/// A matrix product and a copy-like Einsum behind it; the register keeps the weights alone.
BoundProblem problem(const std::string& einsums, const std::string& register_size) {
  const std::string text =
      R"yaml(workload:
  rank_sizes: {M: 4, N: 4, K: 4}
  bits_per_value: {All: 8}
  einsums: )yaml" +
      einsums + R"yaml(
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: Register, size: )yaml" +
      register_size +
      R"yaml(, tensors: {keep: Inputs}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
  return oracle::bind_compound(text);
}

constexpr const char* kTightProduct = "[\"Z[m,n] = A[m,k] * B[k,n]\"]";
constexpr const char* kTightChain = "[\"R[m,k] = exp(A[m,k])\", \"Z[m,n] = R[m,k] * B[k,n]\"]";

// The two inputs of the product need 8 bits each, of which the register has 12.
TEST(TooSmallMemory, IsNamedAsTheSearchOfOneEinsumNamesIt) {
  const auto known = too_small_memory(problem(kTightChain, "12"), {});
  ASSERT_TRUE(known);
  EXPECT_EQ(known->reason,
            "Einsum Z: even the smallest tiles of R, B need 2 B of Register, which has 12 bit");
  EXPECT_EQ(known->nearest_relaxation, "give Register at least 2 B");
  EXPECT_EQ(known->einsum, EinsumId(1));
  const auto searched =
      run_mapper(*standard_mappers().find("fused"), problem(kTightProduct, "12"), {}, {});
  ASSERT_FALSE(searched);
  EXPECT_EQ(searched.error().excess_bits, known->excess_bits);
  EXPECT_EQ(searched.error().nearest_relaxation, known->nearest_relaxation);
}

constexpr const char* kSums =
    "[\"R[m,k] = A[m,k] * B[k,n]\", \"Z[m,n] = R[m,k] * B[k,n] * C[n,k]\"]";

// 16 bits for the first Einsum, 24 for the second: a change that helps one alone is no help.
TEST(TooSmallMemory, IsToldOfTheEinsumThatNeedsMost) {
  const auto known = too_small_memory(problem(kSums, "12"), {});
  ASSERT_TRUE(known);
  EXPECT_EQ(known->einsum, EinsumId(1));
  EXPECT_EQ(known->nearest_relaxation, "give Register at least 3 B");
}

// The copy needs nothing of the register; it has no mapping since the product behind it has none.
TEST(TooSmallMemory, IsNamedWhereAnotherEinsumHasNoMappingForItsSake) {
  const char* copied =
      "[{einsum: \"R[m,k] = A[m,k]\", is_copy_operation: true}, "
      "\"Z[m,n] = R[m,k] * B[k,n]\"]";
  const auto searched =
      run_mapper(*standard_mappers().find("fused"), problem(copied, "12"), {}, {});
  ASSERT_FALSE(searched);
  EXPECT_EQ(searched.error().memory, ComponentId(1));
  EXPECT_EQ(searched.error().nearest_relaxation, "give Register at least 2 B");
}

TEST(TooSmallMemory, IsNamedByAMapperThatProvesNothing) {
  const auto searched =
      run_mapper(*standard_mappers().find("compound"), problem(kTightChain, "12"), {}, {});
  ASSERT_FALSE(searched);
  EXPECT_TRUE(searched.error().proven);
  EXPECT_EQ(searched.error().nearest_relaxation, "give Register at least 2 B");
}

TEST(TooSmallMemory, IsNoneWhereOneValueOfEachFits) {
  EXPECT_FALSE(too_small_memory(problem(kTightChain, "16"), {}));
}

TEST(TooSmallMemory, IsNotKnownWhereConstraintsMayOverrideKeep) {
  const BoundProblem small = problem(kTightChain, "12");
  Constraints constraints;
  constraints.storage.push_back({"without", {}, ComponentId(1), {}, {TensorId(0)}});
  EXPECT_FALSE(too_small_memory(small, constraints));
}

// Each weight fits alone; both stay for the whole run.
TEST(TooSmallMemory, NamesAllPersistentTensorsThatStayInIt) {
  const auto searched = [](const std::string& size) {
    const BoundProblem problem = oracle::bind_compound(
        R"yaml(workload:
  rank_sizes: {M: 4, A: 8, B: 8, C: 8}
  bits_per_value: {All: 8}
  persistent_tensors: weight
  einsums:
  - {einsum: "X[m,b] = I[m,a] * W1[a,b]", renames: {weight: W1}}
  - {einsum: "O[m,c] = X[m,b] * W2[b,c]", renames: {weight: W2}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All - weight}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 48, throughput: inf}]}
  - !Memory {name: Flash, size: )yaml" +
        size +
        R"yaml(, tensors: {keep: weight, may_keep: Nothing}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 1}]}
)yaml");
    return run_mapper(*standard_mappers().find("fused"), problem, {}, {});
  };
  const auto none = searched("100 B");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, "W1, W2 stay in Flash for the whole run: 128 B, and it has 100 B");
  EXPECT_EQ(none.error().nearest_relaxation, "give Flash at least 128 B");
  EXPECT_TRUE(searched("128 B"));
}

// No loop over its instances indexes the weights.
TEST(TooSmallMemory, IsTheOutermostOneForWholeTensors) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(workload:
  rank_sizes: {B: 4, C: 8, H: 8, K: 8, P: 6}
  iteration_space_shape: {r: 0 <= r < 3}
  bits_per_value: {All: 8}
  einsums: ["O[b,k,p] = I[b,c,H:p+r] * W[k,c,r]"]
arch:
  nodes:
  - !Container {name: Tile, spatial: [{name: t, fanout: 2}]}
  - !Memory {name: SRAM, size: 200 B, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
  const auto known = too_small_memory(problem, {});
  ASSERT_TRUE(known);
  EXPECT_EQ(known->reason,
            "Einsum O: I, W, O lie as a whole in SRAM, which needs 640 B and has 200 B");
  EXPECT_EQ(known->nearest_relaxation, "give SRAM at least 640 B");
}

// What is known without a search is a proof: brute force finds nothing either, in memories that are
// cut down at random.
TEST(TooSmallMemory, IsNeverNamedWhereBruteForceFindsAMapping) {
  constexpr oracle::EnumerationLimits kFewMappings = {.max_nests = 1'000, .max_evaluations = 500};
  const testing::RandomCases cases = testing::random_cases(200);
  std::int64_t named = 0, legal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kFewMappings, oracle::kAllExtras);
    std::mt19937_64 random(seed);
    BoundProblem problem = drawn.problem;
    for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
      const double factor = std::exp2(-static_cast<double>(random() % 5));
      for (BoundEinsum& einsum : problem.einsums) einsum.components[c].size_bits *= factor;
    }
    const oracle::Enumeration truth = oracle::enumerate(problem, drawn.options, kFewMappings);
    if (truth.exceeded) continue;
    const auto known = too_small_memory(problem, drawn.options.constraints);
    named += known.has_value();
    legal += !truth.full_front.empty();
    EXPECT_TRUE(!known || truth.full_front.empty())
        << "seed " << seed << ": " << known->reason << "\n"
        << oracle::to_yaml(drawn.spec);
  }
  EXPECT_GT(named, cases.count / 20);
  EXPECT_GT(legal, cases.count / 20);
}

// A tile that changes has a second one beside it; one of a single value does not change.
TEST(TooSmallMemory, CountsTheSecondTileOfADoubleBuffer) {
  const auto problem_of = [](const std::string& m) {
    return oracle::bind_compound(R"yaml(
workload:
  rank_sizes: {M: )yaml" + m + R"yaml(}
  bits_per_value: {All: 8}
  einsums: ["Z[m] = A[m] + B[m]"]
arch:
  nodes:
  - !Memory {name: L0, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: L1, size: 16, buffering: double, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
  };
  const auto moving = too_small_memory(problem_of("12"), {});
  ASSERT_TRUE(moving);
  EXPECT_EQ(moving->nearest_relaxation, "give L1 at least 6 B");
  const auto still = too_small_memory(problem_of("1"), {});
  ASSERT_TRUE(still);
  EXPECT_EQ(still->nearest_relaxation, "give L1 at least 3 B");
}

}  // namespace
}  // namespace sluice
