// Cycles of systolic arrays, fold by fold. The numbers are SCALE-Sim 3.0.0's, measured (its demand
// matrices have one line a cycle).
#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

using Dataflow = SystolicArray::Dataflow;

struct Systolic : ::testing::Test {
  /// C[m,n] = A[m,k]·B[k,n] on one array: `inner` is the variable of its time steps, the other two
  /// its rows and columns, 1 cycle a second.
  double cycles(Dataflow dataflow, std::int64_t m, std::int64_t n, std::int64_t k,
                std::int64_t rows, std::int64_t columns) {
    static const std::map<Dataflow, std::array<const char*, 3>> kLoops{
        {Dataflow::kOutputStationary, {"m", "n", "k"}},
        {Dataflow::kWeightStationary, {"k", "n", "m"}},
        {Dataflow::kInputStationary, {"k", "m", "n"}}};
    const auto& [down, across, in_time] = kLoops.at(dataflow);
    const Workload w = WorkloadBuilder({{"m", m}, {"n", n}, {"k", k}}, 1)
                           .einsum("C[m,n] = A[m,k] * B[k,n]")
                           .workload;
    const Arch arch = machine(dataflow, rows, columns);
    const MappingBuilder b(w, arch);
    const std::map<std::string, std::int64_t> size{{"m", m}, {"n", n}, {"k", k}};
    return compute_s(
        w, arch,
        {b.temporal(across, std::min(columns, size.at(across))),
         b.temporal(down, std::min(rows, size.at(down))), b.spatial(down, 1, "Array", 0),
         b.spatial(across, 1, "Array", 1), b.temporal(in_time, 1)});
  }

  static Arch machine(Dataflow dataflow, std::int64_t rows, std::int64_t columns) {
    Arch arch;
    Component array = container("Array", {dimension("r", rows), dimension("c", columns)});
    std::get<Container>(array.kind).array = SystolicArray{dataflow, "r", "c"};
    arch.components = {memory("DRAM", "inf", "Nothing", 1, 1e9), array,
                       compute("MAC", {{"compute", 1, 1, 1, 0}})};
    return arch;
  }

  static double compute_s(const Workload& w, const Arch& arch, NodeList loops) {
    const MappingBuilder b(w, arch);
    loops.insert(loops.begin(), b.storage("DRAM", {"A", "B", "C"}));
    loops.push_back(b.compute("C", "MAC"));
    const Cost cost = priced(w, arch, std::move(loops));
    for (const LatencyRow& row : cost.latency)
      if (arch[row.component].name == "MAC") return row.latency_s;
    return 0;
  }
};

// 64 × 64 × 64 on 32 × 32: 2 · 2 folds of 64 steps; 4 · (32 + 32 + 64 − 2) = 504.
TEST_F(Systolic, OutputsThatStayTakeNoCyclesToLoad) {
  EXPECT_EQ(cycles(Dataflow::kOutputStationary, 64, 64, 64, 32, 32), 504);
}

// 4 · (32 + 32 + 32 + 64 − 2) = 632.
TEST_F(Systolic, WeightsAndInputsThatStayAreLoadedRowByRow) {
  EXPECT_EQ(cycles(Dataflow::kWeightStationary, 64, 64, 64, 32, 32), 632);
  EXPECT_EQ(cycles(Dataflow::kInputStationary, 64, 64, 64, 32, 32), 632);
}

// M, N, K = 100, 70, 130. os: ⌈100/32⌉·⌈70/32⌉ = 12 folds of 62 + 130; ws: ⌈130/32⌉·⌈70/32⌉ = 15 of
// 94 + 100; is: ⌈130/32⌉·⌈100/32⌉ = 20 of 94 + 70. The last folds use 4, 6 and 2 of 32: all of the
// array is crossed.
TEST_F(Systolic, FoldsAtTheEdgesCrossTheWholeArray) {
  EXPECT_EQ(cycles(Dataflow::kOutputStationary, 100, 70, 130, 32, 32), 2304);
  EXPECT_EQ(cycles(Dataflow::kWeightStationary, 100, 70, 130, 32, 32), 2910);
  EXPECT_EQ(cycles(Dataflow::kInputStationary, 100, 70, 130, 32, 32), 3280);
}

// 1 · 9 values of one output channel (a depth-wise layer): 1 fold, 49 steps, 2 · 16 + 8 + 49 − 2.
TEST_F(Systolic, RowsAndColumnsNeedNotBeEqual) {
  EXPECT_EQ(cycles(Dataflow::kWeightStationary, 49, 1, 9, 16, 8), 87);
  EXPECT_EQ(cycles(Dataflow::kOutputStationary, 49, 1, 9, 64, 8), 79);
}

// One element: 5 · 3 · 7 folds of one row and column, 2 + 1 − 2 = 1 cycle to load (none for os).
TEST_F(Systolic, OneElementIsAnArray) {
  EXPECT_EQ(cycles(Dataflow::kOutputStationary, 5, 3, 7, 1, 1), 105);
  EXPECT_EQ(cycles(Dataflow::kWeightStationary, 5, 3, 7, 1, 1), 105 + 21);
}

// m = 100 in tiles of 64 outside and of 1 inside: folds of 64 and of 36 steps, 2 · 94 + 100.
TEST_F(Systolic, FoldsOfUnequalStepsAddUp) {
  const Workload w = WorkloadBuilder({{"m", 100}, {"n", 32}, {"k", 32}}, 1)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  const Arch arch = machine(Dataflow::kWeightStationary, 32, 32);
  const MappingBuilder b(w, arch);
  EXPECT_EQ(compute_s(w, arch,
                      {b.temporal("m", 64), b.spatial("k", 1, "Array", 0),
                       b.spatial("n", 1, "Array", 1), b.temporal("m", 1)}),
            2 * 94 + 100);
}

}  // namespace
}  // namespace sluice::testing
