#include <gtest/gtest.h>

#include "unit/frontend/loading.h"

namespace sluice {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

TEST(WorkloadReader, ReadsAnEinsumString) {
  const Workload w = workload_of(R"yaml(
workload:
  name: attention
  rank_sizes: {M: 4, P: 4, E: 8}
  bits_per_value: {All: 16}
  einsums: ["QK[m,p] = Q[m,e] * K[M:p,e]", "MX[m] = max(QK[m,p])"]
)yaml");
  EXPECT_EQ(w.name, "attention");
  ASSERT_EQ(w.einsums.size(), 2U);
  EXPECT_EQ(w.einsums[0].expression.reduction, Reduction::kSum);
  EXPECT_EQ(w.einsums[1].expression.reduction, Reduction::kMax);
  EXPECT_EQ(w[w.tensors[1].ranks[0]].name, "M");  // K's first rank, walked by p
  EXPECT_EQ(range_of(w, 0, "p"), (Range{0, 4}));
  EXPECT_EQ(w.einsums[0].output().bits_per_value, 16);
}

TEST(WorkloadReader, TheVerboseFormMeansTheSameAsTheString) {
  const std::string head =
      "workload:\n  rank_sizes: {M: 4, N: 6, K: 8}\n  bits_per_value: {All: 8}\n";
  const Workload text = workload_of(
      head + "  name: w\n  einsums: [{name: E, einsum: \"C[m,n] = A[m,k] * B[k,n]\"}]\n");
  const Workload verbose = workload_of(head + R"yaml(  name: w
  einsums:
  - name: E
    tensor_accesses:
    - {name: A, projection: [m, k]}
    - {name: B, projection: {N: n, K: k}}
    - {name: C, projection: [m, n], output: true}
)yaml");
  ASSERT_EQ(verbose.einsums.size(), 1U);
  EXPECT_EQ(text.einsums[0].expression, verbose.einsums[0].expression);
  EXPECT_EQ(text.einsums[0].accesses[0], verbose.einsums[0].accesses[0]);
  EXPECT_EQ(to_yaml(verbose).find("B[n,k]") != std::string::npos, true);  // B has its own order
}

// Y[2] is A[2]*W[0] + A[1]*W[1]: points that write one value add up, although no variable is absent
// on the left. Where the others of its index are known, a variable follows: nothing meets in Z.
TEST(WorkloadReader, IndicesOfSeveralVariablesOnTheLeftSumWhatMeets) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {P: 6}
  bits_per_value: {All: 8}
  iteration_space_shape: {r: 0 <= r < 3}
  einsums: ["Y[H:p+r] = A[p] * W[r]", "Z[P:p,G:p+r] = A[p] * W[r]", "M[I:2*p+r] = max(C[p,r])"]
)yaml");
  EXPECT_EQ(w.einsums[0].expression.reduction, Reduction::kSum);
  EXPECT_EQ(w.einsums[1].expression.reduction, Reduction::kNone);
  EXPECT_EQ(w.einsums[2].expression.reduction, Reduction::kMax);
}

TEST(WorkloadReader, DerivesSizesOfRanksThatNobodyDeclares) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {P: 6}
  bits_per_value: {All: 8}
  iteration_space_shape: {r: 0 <= r < 3}
  einsums: ["Y[p] = X[H:2*p+r] * W[r]"]
)yaml");
  EXPECT_EQ(rank_size(w, "H"), 2 * 5 + 2 + 1);
  EXPECT_EQ(rank_size(w, "R"), 3);
}

TEST(WorkloadReader, TightensVariablesByTheRanksTheyReach) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {P: 100, H: 12}
  bits_per_value: {All: 8}
  iteration_space_shape: [0 <= r < 3]
  einsums: ["Y[p] = X[H:p+r] * W[r]"]
)yaml");
  // p + r < 12 for some r >= 0: p runs to 11; where p + r leaves H it reads padding.
  EXPECT_EQ(range_of(w, 0, "p"), (Range{0, 12}));
  EXPECT_EQ(range_of(w, 0, "r"), (Range{0, 3}));
}

TEST(WorkloadReader, ASizeOfARankThatNoTensorHasBoundsTheVariableOfItsName) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {K: 16, P: 28, Q: 28, P2: 14, Q2: 14, A: 2, B: 2}
  bits_per_value: {All: 8}
  einsums: ["L[k,p2,q2] = max(T[k,P:2*p2+a,Q:2*q2+b])"]
)yaml");
  EXPECT_EQ(range_of(w, 0, "a"), (Range{0, 2}));
  EXPECT_EQ(range_of(w, 0, "b"), (Range{0, 2}));
  std::int64_t points = 1;
  for (const VariableRange& range : w.einsums[0].iteration_space) points *= range.size;
  EXPECT_EQ(points, 12544);  // 16 · 14 · 14 · 2 · 2
}

TEST(WorkloadReader, AWrittenBoundMayNotGoBeyondTheSizeOfItsVariable) {
  EXPECT_EQ(mistake_of(R"yaml(
workload:
  rank_sizes: {P: 28, P2: 14, A: 2}
  bits_per_value: {All: 8}
  iteration_space_shape: {a: 0 <= a < 3}
  einsums: ["L[p2] = max(T[P:2*p2+a])"]
)yaml"),
            "'a' may reach 2 here, but the rank A has size 2");
}

TEST(WorkloadReader, AnOutputThatEndsBeforeItsRankDoesIsSaid) {
  const Specs specs = specs_of(R"yaml(
workload:
  rank_sizes: {P: 10, H: 5}
  bits_per_value: {All: 8}
  iteration_space_shape: {r: 0 <= r < 3}
  einsums: ["O[p] = I[H:p+r] * W[r]"]
)yaml");
  ASSERT_EQ(specs.warnings.size(), 1U);
  EXPECT_EQ(specs.warnings[0].message,
            "O has size 10 along P, of which only 0 to 4 are computed: the rank H of I has size 5");
  EXPECT_EQ(specs.warnings[0].hint, "give P the size 5, or make H longer");
  EXPECT_EQ(specs.warnings[0].location.line, 6);
}

TEST(WorkloadReader, AVariableThatASumAloneBoundsIsSaid) {
  const Specs specs = specs_of(R"yaml(
workload:
  rank_sizes: {H: 6, P: 4}
  bits_per_value: {All: 8}
  einsums: ["O[p] = I[H:p+r] * W[r]", "Q[p] = I[H:p+r] * V[r]"]
)yaml");
  ASSERT_EQ(specs.warnings.size(), 1U);  // once
  EXPECT_EQ(specs.warnings[0].message,
            "variable 'r' of the Einsum O has no bound of its own: it takes all 6 values that the "
            "size of a sum leaves it");
  EXPECT_EQ(specs.warnings[0].location.line, 5);
}

TEST(WorkloadReader, ASizeThatBoundsNothingIsSaid) {
  const Specs specs = specs_of(R"yaml(
workload:
  rank_sizes: {M: 4, QUERYS: 4}
  bits_per_value: {All: 8}
  iteration_space_shape: {query: 0 <= query < 4}
  einsums: ["Z[m,query] = A[m,query]"]
)yaml");
  ASSERT_EQ(specs.warnings.size(), 1U);
  EXPECT_EQ(
      specs.warnings[0].message,
      "no tensor has a rank QUERYS, and no index a variable 'querys': its size bounds nothing");
  EXPECT_EQ(specs.warnings[0].hint, "did you mean 'QUERY'?");
  EXPECT_EQ(specs.warnings[0].location.line, 3);
}

std::vector<std::string> hints_of(const std::string& einsums) {
  const Specs specs = specs_of(R"yaml(
workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: )yaml" + einsums);
  std::vector<std::string> hints;
  for (const Diagnostic& warning : specs.warnings) hints.push_back(warning.hint);
  return hints;
}

TEST(WorkloadReader, WarnsOfATensorThatOneLetterTellsFromTheOneMade) {
  const std::vector<std::string> did_you_mean_hid = {"did you mean 'HID'?"};
  for (const std::string read : {"HIDD", "HI", "HIT", "HDI"}) {
    const auto hints = hints_of("['HID[m] = A[m]', 'Z[m] = exp(" + read + "[m])']");
    EXPECT_EQ(hints, did_you_mean_hid) << read;
  }
}

TEST(WorkloadReader, TakesTensorsOfSimilarNamesForMeant) {
  const std::vector<std::string> none;
  EXPECT_EQ(hints_of("['X1[m] = X0[m]']"), none);                      // made where it is read
  EXPECT_EQ(hints_of("['H1[m] = A[m]', 'Z[m] = exp(H2[m])']"), none);  // numbered
  EXPECT_EQ(hints_of("['HID[m] = A[m]', 'Z[m] = HID[m] * HIT[m]']"), none);  // both are used
  EXPECT_EQ(hints_of("['H[m] = A[m]', 'Z[m] = exp(B[m])']"), none);          // short names
}

TEST(WorkloadReader, ARecurrencesStateHasOneSliceMoreThanSteps) {
  const Workload w = workload_of(R"yaml(
variables: {STEPS: 4}
workload:
  rank_sizes: {I: STEPS, M: 2}
  bits_per_value: {All: 8}
  initial: {RM: -inf}
  einsums:
  - "RM[i+1,m] = max(RM[i,m], LM[i,m])"
  - "Y[m] = exp(RM[i: STEPS, m])"
)yaml");
  EXPECT_EQ(rank_size(w, "I"), 4);
  EXPECT_EQ(rank_size(w, "I_STATE"), 5);
  EXPECT_EQ(range_of(w, 0, "i"), (Range{0, 4}));
  EXPECT_EQ(w.tensors[0].initial, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(w.einsums[1].accesses[0].projection[0].constant, 4);
}

// Without names the makers of a tensor are called as it, and numbered from the second on.
TEST(WorkloadReader, SeveralEinsumsMayMakePartsOfOneTensor) {
  const std::string text =
      "workload:\n  rank_sizes: {A: 4, B: 2}\n  bits_per_value: {All: 8}\n  einsums:\n"
      "  - T[N:a] = exp(X[a])\n  - T[N:b+4] = exp(Y[b])\n  - Z[n] = T[n] * T[n]\n";
  const Workload w = workload_of(text);
  EXPECT_EQ(w.einsums[0].name, "T");
  EXPECT_EQ(w.einsums[1].name, "T_2");
  const TensorId t = *find_tensor(w, "T");
  EXPECT_EQ(w[w[t].ranks[0]].size, 6);
  EXPECT_EQ(tensor_roles(w).makers[t.index()], (std::vector<EinsumId>{EinsumId(0), EinsumId(1)}));
  EXPECT_EQ(to_yaml(workload_of(to_yaml(w))), to_yaml(w));
}

TEST(WorkloadReader, EinsumRenamesWinOverTheDefaultOnes) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {M: 2, N: 2, K: 2}
  bits_per_value: {All: 8}
  persistent_tensors: weight - Intermediates
  einsums:
  - "T[m,n] = A[m,k] * W[k,n]"
  - {einsum: "Y[m,k] = T[m,n] * V[n,k]", renames: {input: V}}
renames:
  einsums:
  - name: default
    tensor_accesses:
    - {name: input, source: Inputs & Intermediates if len(All & Intermediates) == 2 else A | T}
    - {name: output, source: Outputs, expected_count: 1}
    - {name: weight, source: ~(input | output)}
)yaml");
  const auto names = [&](std::size_t einsum, std::size_t rename) {
    std::string text;
    for (const TensorId t : w.einsums[einsum].renames[rename].tensors) text += w[t].name;
    return w.einsums[einsum].renames[rename].name + "=" + text;
  };
  EXPECT_EQ(names(0, 2), "weight=W");
  EXPECT_EQ(names(1, 0), "input=V");
  EXPECT_EQ(names(1, 2), "weight=T");
  EXPECT_TRUE(w.tensors[1].persistent);                              // W
  EXPECT_FALSE(w.tensors[find_tensor(w, "T")->index()].persistent);  // an intermediate
}

TEST(WorkloadReader, OtherStandsForTheTensorsThatNoKeyCovers) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {M: 2}
  bits_per_value: {A: 4, Other: 8}
  einsums: [{einsum: "C[m] = A[m] * B[m]", bits_per_value: {C: 32}}]
)yaml");
  EXPECT_EQ(w.einsums[0].accesses[0].bits_per_value, 4);
  EXPECT_EQ(w.einsums[0].accesses[1].bits_per_value, 8);
  EXPECT_EQ(w.einsums[0].accesses[2].bits_per_value, 32);
}

TEST(WorkloadReader, FoldsConstantsSoThatTheyCostNoOperation) {
  const Workload w = workload_of(R"yaml(
variables: {N: 4}
workload:
  rank_sizes: {M: 2}
  bits_per_value: {All: 8}
  einsums: ["C[m] = A[m] * (1 / N - -0.25)"]
)yaml");
  EXPECT_EQ(operations_per_point(w.einsums[0].expression),
            (std::vector<OperationCount>{{OperationKind::kMul, 1}}));
  EXPECT_EQ(w.einsums[0].expression.nodes[1].constant, 0.5);
}

TEST(WorkloadReader, AThousandEinsumsLoadInAMoment) {
  std::string text = "workload:\n  rank_sizes: {M: 4}\n  bits_per_value: {All: 8}\n  einsums:\n";
  for (int i = 0; i < 1000; ++i)
    text += "  - \"T" + std::to_string(i + 1) + "[m] = exp(T" + std::to_string(i) + "[m])\"\n";
  EXPECT_EQ(workload_of(text).einsums.size(), 1000U);
}

}  // namespace
}  // namespace sluice
