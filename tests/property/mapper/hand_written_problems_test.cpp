// Problems that the random generator does not draw: recurrences and shifted reads. The mapper finds
// what brute force finds, in every objective and the whole front.
#include <gtest/gtest.h>

#include "brute_force_agreement.h"

namespace sluice {
namespace {

struct Problem {
  const char* name;
  const char* workload;
  const char* local_buffer;  ///< a third memory, or nothing
  const char* spatial;       ///< of the compute, or nothing
  double buffer_bits;
};

void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.name; }

std::string text_of(const Problem& problem) {
  return std::string("workload:\n  bits_per_value: {All: 8}\n") + problem.workload + R"(
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: )" +
         std::to_string(problem.buffer_bits) + R"(, tensors: {keep: ~Main, may_keep: All},
             actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
)" + problem.local_buffer +
         R"(  - !Compute {name: MAC, )" + problem.spatial +
         R"(actions: [{name: compute, energy: 1, throughput: 1}]}
)";
}

class HandWrittenProblem : public ::testing::TestWithParam<Problem> {};

TEST_P(HandWrittenProblem, IsSolvedAsBruteForceSolvesIt) {
  expect_brute_force_agreement(text_of(GetParam()));
}

constexpr const char* kLocalBuffer =
    R"(  - !Memory {name: Local, size: 24, tensors: {keep: Nothing, may_keep: All},
             actions: [{name: read, energy: 1, throughput: 32}, {name: write, energy: 1, throughput: 32}]}
)";
constexpr const char* kTwoLanes = "spatial: [{name: x, fanout: 2}], ";

constexpr const char* kRunningMaximum = R"yaml(  rank_sizes: {I: 4, M: 2}
  initial: {R: -inf}
  einsums:
  - "R[m,i+1] = max(R[m,i], L[m,i])"
  - "D[m,i] = exp(R[m,i] - R[m,i+1])"
)yaml";
constexpr const char* kDelay = R"yaml(  rank_sizes: {I: 4, M: 2}
  initial: {R: 0}
  einsums:
  - "R[m,i+1] = exp(L[m,i])"
  - "D[m,i] = R[m,i] * L[m,i]"
)yaml";
constexpr const char* kCycle = R"yaml(  rank_sizes: {I: 4, M: 2}
  initial: {A: 0}
  einsums:
  - "B[m,i] = exp(A[m,i])"
  - "A[m,i+1] = B[m,i] * C[m,i]"
)yaml";

// U needs S whole: it must not stand in a loop over k that S is still summed over, though X would
// like to live there.
constexpr const char* kNormalisation = R"yaml(  rank_sizes: {K: 4, M: 2}
  einsums:
  - "X[k,m] = exp(A[k,m])"
  - "S[m] = sum(X[k,m])"
  - "U[k,m] = X[k,m] / S[m]"
)yaml";

INSTANTIATE_TEST_SUITE_P(Sums, HandWrittenProblem,
                         ::testing::Values(Problem{"Normalisation", kNormalisation, "", "", 40},
                                           Problem{"NormalisationInLanes", kNormalisation, "",
                                                   kTwoLanes, 24}),
                         [](const auto& test) { return std::string(test.param.name); });

constexpr const char* kTransposed = R"yaml(  rank_sizes: {P: 4, R: 3}
  einsums:
  - "D[X:2*p+r] = A[p] * W[r]"
)yaml";
constexpr const char* kTransposedWithHoles = R"yaml(  rank_sizes: {P: 4, R: 2, C: 2}
  einsums:
  - "D[c,X:3*p+r] = A[p] * W[c,r]"
)yaml";
constexpr const char* kTransposedThenActivation = R"yaml(  rank_sizes: {P: 2, R: 2, C: 2}
  einsums:
  - "D[c,X:p+r] = A[c,p] * W[c,r]"
  - "Y[c,x] = max(D[c,x], 0)"
)yaml";

// Sums that windows share come back: neither products of trip counts nor tiles that slide.
INSTANTIATE_TEST_SUITE_P(
    WindowedOutputs, HandWrittenProblem,
    ::testing::Values(Problem{"Transposed", kTransposed, "", "", 56},
                      Problem{"TransposedInLanes", kTransposed, kLocalBuffer, kTwoLanes, 56},
                      Problem{"TransposedWithHoles", kTransposedWithHoles, "", kTwoLanes, 64},
                      Problem{"TransposedThenActivation", kTransposedThenActivation, "", "", 80}),
    [](const auto& test) { return std::string(test.param.name); });

// The convolution holds T with its border: 4 + 2 values, of which the first Einsum writes 4.
constexpr const char* kPadding = R"yaml(  rank_sizes: {P: 4, Q: 4, C: 2}
  iteration_space_shape: {r: 0 <= r < 3}
  einsums:
  - "T[c,p] = exp(X[c,p])"
  - "Y[c,q] = T[c,P:q+r-1] * W[c,R:r]"
)yaml";

INSTANTIATE_TEST_SUITE_P(Borders, HandWrittenProblem,
                         ::testing::Values(Problem{"HeldByTheReader", kPadding, "", "", 64},
                                           Problem{"HeldUntiled", kPadding, "", "", 100}),
                         [](const auto& test) { return std::string(test.param.name); });

// T2 is a copy of T1: one reservation for both, also while a third Einsum reads them.
constexpr const char* kReadAfterCopy = R"yaml(  rank_sizes: {M: 2}
  einsums:
  - "T1[m] = A[m]"
  - {einsum: "T2[m] = T1[m]", is_copy_operation: true}
  - "Z[m] = T2[m] * T1[m]"
)yaml";

INSTANTIATE_TEST_SUITE_P(Copies, HandWrittenProblem,
                         ::testing::Values(Problem{"read_after", kReadAfterCopy, "", "", 16},
                                           Problem{"read_after_small", kReadAfterCopy, "", "", 8}),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Recurrences, HandWrittenProblem,
                         ::testing::Values(Problem{"RunningMaximum", kRunningMaximum, "", "", 40},
                                           Problem{"RunningMaximumInLanes", kRunningMaximum, "",
                                                   kTwoLanes, 64},
                                           Problem{"RunningMaximumInThreeMemories", kRunningMaximum,
                                                   kLocalBuffer, "", 40},
                                           Problem{"Delay", kDelay, "", kTwoLanes, 40},
                                           Problem{"Cycle", kCycle, "", kTwoLanes, 48}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sluice
