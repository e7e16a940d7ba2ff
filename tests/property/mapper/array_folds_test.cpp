// Systolic arrays that take cycles to fill and drain: temporal loops above the array are folds,
// each of which costs a fill, so that it pays to hold more in it or to make steps of loops.
#include "brute_force_agreement.h"

namespace sluice {
namespace {

std::string problem_with(const std::string& einsums, const std::string& dataflow,
                         const std::string& inside) {
  return R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 4, K: 2, N: 2, L: 2}
  einsums:
)yaml" + einsums +
         R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 64, throughput: 64}, {name: write, energy: 32, throughput: 64}]}
  - !Memory {name: Buffer, tensors: {keep: ~Main, may_keep: All}, size: 160, actions: [{name: read, energy: 4, throughput: 64}, {name: write, energy: 2, throughput: 64}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: )yaml" +
         dataflow +
         R"yaml(, rows: r, cols: c}, spatial: [{name: r, fanout: 2, may_reuse: Outputs}, {name: c, fanout: 2, may_reuse: Inputs}]}
)yaml" + inside +
         "  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}\n";
}

std::string registers(const std::string& size, const std::string& kept) {
  return "  - !Memory {name: Register, size: " + size + ", tensors: {keep: " + kept +
         "}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, "
         "throughput: inf}]}\n";
}

constexpr const char* kFoldedProduct =
    "  - {einsum: \"Z[m,n] = A[m,k] * W[k,n]\", renames: {weight: W}}\n";
constexpr const char* kChain =
    "  - {einsum: \"B[m,k] = A[m,l] * V[l,k]\", renames: {weight: V}}\n"
    "  - {einsum: \"Z[m,n] = B[m,k] * W[k,n]\", renames: {weight: W}}\n";

class ArrayFolds : public ::testing::TestWithParam<const char*> {};

TEST_P(ArrayFolds, AreMinimisedAsBruteForceMinimisesThem) {
  for (const char* size : {"8", "16"})
    expect_brute_force_agreement(
        problem_with(kFoldedProduct, GetParam(), registers(size, "weight")));
}

TEST_P(ArrayFolds, AreMinimisedWhereNothingIsHeldInTheArray) {
  expect_brute_force_agreement(problem_with(kFoldedProduct, GetParam(), ""));
}

TEST_P(ArrayFolds, AreMinimisedOfFusedEinsums) {
  expect_brute_force_agreement(problem_with(kChain, GetParam(), registers("8", "weight")));
}

// A node that slides stays where it is: what stands below it are steps, not folds.
TEST_P(ArrayFolds, AreMinimisedBelowNodesThatSlide) {
  expect_brute_force_agreement(
      R"yaml(workload:
  rank_sizes: {M: 4, X: 2, A: 1, B: 2}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "Z[m,a,b] = T[m,X:2*a+b]", renames: {input: T}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 48, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: )yaml" +
      std::string(GetParam()) +
      R"yaml(, rows: r, cols: c}, spatial: [{name: r, fanout: 2, may_reuse: Outputs, min_usage: 1}, {name: c, fanout: 1, may_reuse: All}]}
  - !Memory {name: Register, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 0.5}]}
)yaml");
}

// Windows with gaps between them: what lies there is not fetched.
TEST(ArrayFoldsOfWindows, CountStepsThatAreLongerThanATile) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 3, P: 2, N: 2, R: 3}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "T[m] = A[m]", renames: {input: A}}
  - {einsum: "Z[p,n] = T[M:2*p+r] * W[r,n]", iteration_space_shape: [0 <= r < 3], renames: {input: T, weight: W}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 32, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: is, rows: r, cols: c}, spatial: [{name: r, fanout: 2, may_reuse: All, min_usage: 1}, {name: c, fanout: 3, may_reuse: All}]}
  - !Memory {name: Register, size: 64, tensors: {keep: Inputs | ~Main}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 4, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 1}]}
)yaml");
}

// A loop that passes a node on its way down passes the loops over the array below it, too: the
// windows of the output that an instance sums into are then others.
TEST(ArrayFoldsOfWindows, CountSumsOfInstancesThatStepAside) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 4, N: 2, X: 4, R: 3}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "D[X:m+r,n] = T[m,n] * F[r]", iteration_space_shape: [0 <= r < 3], renames: {input: T, weight: F}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 48, throughput: inf}]}
  - !Memory {name: Buffer, size: inf, tensors: {keep: ~Main, may_keep: All}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 4, throughput: 8}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: is, rows: r, cols: c}, spatial: [{name: r, fanout: 2, may_reuse: Outputs}, {name: c, fanout: 1, may_reuse: Outputs}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 4}]}
)yaml");
}

INSTANTIATE_TEST_SUITE_P(Dataflows, ArrayFolds, ::testing::Values("ws", "os"));

}  // namespace
}  // namespace sluice
