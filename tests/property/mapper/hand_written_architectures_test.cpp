// Problems whose point is in the architecture: persistent copies, tolls, demanding fanouts, ordered
// buffers. Each once made the mapper and brute force differ.
#include <fmt/format.h>

#include "brute_force_agreement.h"

namespace sluice {
namespace {

/// A main memory that keeps `main`, one buffer and a compute.
std::string arch_of(const std::string& main, const std::string& buffer, const std::string& more,
                    const std::string& compute) {
  return R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: )yaml" +
         main +
         R"yaml(}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, )yaml" +
         buffer +
         R"yaml(, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
)yaml" + more +
         "  - !Compute {name: MAC, " + compute +
         "actions: [{name: compute, energy: 1, throughput: 1}]}\n";
}

// T0, T1 (one reservation of 6 values) and T2 (2 values) stay for the whole run: 64 bits in all.
TEST(HandWrittenArchitecture, KeepsPersistentCopiesOnce) {
  const std::string workload = R"yaml(workload:
  bits_per_value: {All: 8}
  persistent_tensors: All
  rank_sizes: {M: 2, N: 3}
  einsums:
  - {einsum: "T1[m,n] = T0[m,n]", is_copy_operation: true}
  - "T2[m] = T1[m,n]"
)yaml";
  const auto arch = [](int bits) {
    return arch_of("~(Intermediates | Persistent)",
                   "size: " + std::to_string(bits) + ", tensors: {keep: ~Main}", "", "");
  };
  expect_brute_force_agreement(workload + arch(64));
  expect_brute_force_agreement(workload + arch(56), false);
}

// A wider copy: 16 bits a value as an output, 8 as an input. The larger of the two counts.
TEST(HandWrittenArchitecture, KeepsTheLargerOfTwoCopies) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  persistent_tensors: All
  rank_sizes: {M: 2, N: 3}
  einsums:
  - {einsum: "T1[m,n] = T0[m,n]", is_copy_operation: true, renames: {output: T1, input: T0}}
  - {einsum: "T2[m] = T1[m,n]", renames: {output: T2, input: T1}}
)yaml" + arch_of("~(Intermediates | Persistent)",
                 "size: 128, bits_per_value: {output: 16}, tensors: {keep: ~Main}", "", ""));
}

// T0 lies in the room of its persistent copy T1 from the first Einsum on, which does not use T1: 48
// bits, and 8 for a tile of R. Without that T0 and T1 were 96.
TEST(HandWrittenArchitecture, KeepsASourceInTheRoomOfItsPersistentCopy) {
  const std::string workload = R"yaml(workload:
  bits_per_value: {All: 8}
  persistent_tensors: Intermediates
  rank_sizes: {M: 2, N: 3}
  einsums:
  - "R[m] = T0[m,n]"
  - {einsum: "T1[m,n] = T0[m,n]", is_copy_operation: true}
  - "T2[m,n] = exp(T1[m,n])"
)yaml";
  for (const int bits : {56, 64, 104})
    expect_brute_force_agreement(
        workload +
        arch_of("Nothing", "size: " + std::to_string(bits) + ", tensors: {keep: All}", "", ""));
}

// A toll holds nothing: the buffer above it is not in vain.
TEST(HandWrittenArchitecture, KeepsABufferDirectlyAboveAToll) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 1, N: 2}
  einsums: ["T2[m] = T0[m,n]"]
)yaml" + arch_of("~Intermediates", "size: inf, tensors: {keep: ~Main, may_keep: All}",
                 "  - !Toll {name: Link, tensors: {keep: T2}, actions: [{name: read, energy: 2, "
                 "throughput: inf}]}\n",
                 ""));
}

// min_usage is judged over all loop orders of a placement: the lanes of the compute can be filled
// only if the steps of S stand above its node.
TEST(HandWrittenArchitecture, FillsLanesWhereverTheStepsStand) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {I: 3, N: 3}
  initial: {S: 0}
  einsums: ["S[i+1,n] = T[i,n] * S[i,n]"]
)yaml" +
      arch_of(
          "~Intermediates",
          "size: 80, spatial: [{name: gx, fanout: 3, may_reuse: Nothing}], tensors: {keep: All}",
          "", "spatial: [{name: cx, fanout: 3, min_usage: 1}], "));
}

// Seed 911,001,847. T stands at the split of both its users, and in A's nest below RF's copy of A,
// which is filled from the buffer: that node stands above the split, too, though only the cycle
// uses it.
TEST(HandWrittenArchitecture, KeepsWhatACopyIsFilledFromAboveTheSplit) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2, N: 2, I: 3}
  initial: {A: 0}
  einsums:
  - "T[m,n] = exp(X[m,n])"
  - "B[m,n] = exp(A[I:m,n])"
  - "A[I:m+1,n] = B[m,n] * T[m,n]"
)yaml" + arch_of("~Intermediates",
                 "size: 176, tensors: {keep: All, may_keep: All, force_memory_hierarchy_order: "
                 "false}",
                 "  - !Memory {name: RF, size: 104, tensors: {keep: Outputs}, actions: [{name: "
                 "read, energy: 2, throughput: 16}, {name: write, energy: 1, throughput: 16}]}\n",
                 ""));
}

// Buffer and RF hold two values of T0 each, below the loop over q: with W1 and T1 the buffer has 7
// values. Without sliding in both, T0's window or T1's three values go to and fro.
TEST(HandWrittenArchitecture, SlidesOneWindowInSeveralMemories) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {Q: 3, S: 2, X: 4}
  einsums: ["T1[q] = T0[X:q+s] * W1[s]"]
)yaml" +
      arch_of("All", "size: 56, tensors: {keep: All}",
              "  - !Memory {name: RF, size: inf, tensors: {keep: All}, actions: [{name: read, "
              "energy: 2, throughput: 16}, {name: write, energy: 1, throughput: 16}]}\n",
              ""));
}

// Two windows of two values and one result are 40 bits.
TEST(HandWrittenArchitecture, SlidesTwoWindowsOverOneLoop) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {Q: 3, S: 2, X: 4}
  einsums: ["T1[q] = T0[X:q+s] * W1[X:q+s]"]
)yaml" + arch_of("All", "size: 40, tensors: {keep: All}", "", ""));
}

// Rows of T are dealt out to two lanes: in the order of their windows, or every second row to each.
// What a lane sees of D for the first time is not the same, so the loop over m that stands above
// the lanes, and that F does not depend on, may not be moved below F's node.
TEST(HandWrittenArchitecture, DealsOutWindowsOfAnOutputInEitherOrder) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 4, R: 3, X: 6, N: 2}
  einsums: ["D[X:m+r,n] = T[m,n] * F[r]"]
)yaml" + arch_of("All", "size: inf, spatial: [{name: x, fanout: 2}], tensors: {keep: F}", "", ""));
}

// Seed 943,000,310. T1's window could slide over the loop over p, were that the outermost one; S
// has room for one column only and wants the loop over n outermost.
TEST(HandWrittenArchitecture, KeepsAWindowAboveALoopThatAnotherEinsumWantsOutermost) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 3, P: 2, N: 2, R: 2, I: 3}
  initial: {S: 0}
  einsums:
  - {einsum: "T2[p,n] = T1[M:p+r] * W[r,n]", renames: {input: T1, output: T2, weight: W}}
  - {einsum: "S[I:p+1,n] = T2[p,n] * S[I:p,n]", renames: {input: T2 | S, output: S, weight: Nothing}}
)yaml" + arch_of("~Intermediates",
                 "size: 80, bits_per_value: {output: 16}, tensors: {keep: ~Main, may_keep: All}",
                 "", ""));
}

// The readers of a state follow its steps in time: their lanes stay empty.
TEST(HandWrittenArchitecture, SpreadsNoReaderOfAStateOverInstances) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {I: 2, N: 1}
  initial: {S: 0}
  einsums:
  - "S[i+1,n] = T[i,n] * S[i,n]"
  - "O[i,n] = exp(S[i+1,n])"
)yaml" +
      arch_of("~Intermediates",
              "size: inf, spatial: [{name: gx, fanout: 4, min_usage: 1}], tensors: {keep: ~Main}",
              "", ""));
}

// One step: S is two slices of 3 values although its step variable has one value only. With T's 6
// values that is 96 bits.
TEST(HandWrittenArchitecture, HoldsTwoSlicesOfASingleStep) {
  const std::string workload = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {I: 2, J: 1, N: 3}
  initial: {S: 0}
  einsums:
  - "T[i,n] = exp(A[i,n])"
  - "S[j+1,n] = T[I:j,n] * S[J:j,n]"
)yaml";
  for (const auto& [bits, legal] : {std::pair(88, true), std::pair(96, true)})
    expect_brute_force_agreement(
        workload + arch_of("~Intermediates",
                           "size: " + std::to_string(bits) + ", tensors: {keep: ~Main}", "", ""),
        legal);
}

// W3 stands above T2 because of the order of the buffer's nodes: its tile is whole, also where both
// stand at the split of the two Einsums.
TEST(HandWrittenArchitecture, KeepsTheOrderOfNodesAtASplit) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {weight: 4, Other: 8}
  rank_sizes: {M: 2, N0: 3, N1: 2, N2: 2}
  einsums:
  - {einsum: "T2[m,n1] = T1[m,n0] * W2[n0,n1]", renames: {input: T1, output: T2, weight: W2}}
  - {einsum: "T3[m,n2] = T2[m,n1] * W3[n1,n2]", renames: {input: T2, output: T3, weight: W3}}
)yaml" +
      arch_of("~Intermediates",
              "size: 96, buffering: double, tensors: {keep: Inputs | ~Main, tensor_order_options: "
              "[[weight, input]]}",
              "", "spatial: [{name: cx, fanout: 4, reuse: output}], "));
}

// T0 slides over r, which must stand right above it, below n0: a row of W1 is read once.
TEST(HandWrittenArchitecture, SlidesOverTheLoopRightAboveTheNode) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {N0: 2, P: 2, N1: 1}
  iteration_space_shape: [0 <= r < 2]
  einsums:
  - "T1[p,n1] = T0[M:p+r,n0] * W1[R:r,n0,n1]"
  - "T2[p,n1] = exp(T1[p,n1])"
)yaml" +
      arch_of("~Intermediates", "size: 40, tensors: {keep: All}", "", ""));
}

// T0's 2 rows of 4 values fill Local and slide over p, whose loop stands right above them: the node
// of O in the buffer, further out, has its place above p, although a tile below p would do.
TEST(HandWrittenArchitecture, KeepsANodeAboveTheLoopThatAnInnerOneSlidesOver) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {P: 3, Q: 3}
  iteration_space_shape: [0 <= r < 2, 0 <= s < 2]
  einsums:
  - "O[p,q] = sum(T0[H:p+r,W:q+s])"
)yaml" +
      arch_of("~Intermediates", "size: inf, tensors: {keep: ~Main, may_keep: All}",
              "  - !Memory {name: Local, size: 64, tensors: {keep: T0}, actions: [{name: read, "
              "energy: 2, throughput: 16}, {name: write, energy: 3, throughput: 16}]}\n",
              ""));
}

// Two slices of the state, twice, are more than its three slices: they stand above the steps.
TEST(HandWrittenArchitecture, KeepsAWholeStateInADoubleBuffer) {
  for (const int bits : {24, 32})
    expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2}
  initial: {S: 0}
  einsums:
  - "S[m+1] = S[m] * T[m]"
)yaml" + arch_of("~Intermediates", "size: inf, tensors: {keep: ~Main}",
                 "  - !Memory {name: Local, size: " + std::to_string(bits) +
                     ", tensors: {keep: Outputs}, buffering: double, actions: [{name: read, "
                     "energy: 2, throughput: 16}, {name: write, energy: 2, throughput: 16}]}\n",
                 ""));
}

// The same for a window: 2 rows at a time, twice, are more than the 3 rows of all steps.
TEST(HandWrittenArchitecture, KeepsAWholeWindowInADoubleBuffer) {
  for (const int bits : {24, 32})
    expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {P: 2, C: 2}
  iteration_space_shape: [0 <= r < 2]
  einsums:
  - "Y[p,c] = X[H:p+r] * W[R:r,c]"
)yaml" + arch_of("All",
                 "size: " + std::to_string(bits) +
                     ", buffering: double, tensors: {keep: X, may_keep: All}",
                 "", ""));
}

std::string free_local(const std::string& keep, const std::string& toll) {
  return toll + "  - !Memory {name: Local, size: inf, tensors: {keep: " + keep +
         "}, actions: [{name: read, energy: 1, throughput: 32}, {name: write, energy: 3, "
         "throughput: 32}]}\n";
}

// T2 stands in Local above the loop over n and T1 in the buffer below it, each read through the
// toll: the toll follows its memories.
TEST(HandWrittenArchitecture, KeepsInnerNodesAboveOuterOnesThroughAToll) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 1, N: 3}
  einsums:
  - "T1[m,n] = exp(T0[m,n])"
  - "T2[m] = sum(T1[m,n])"
)yaml" +
      arch_of("~Intermediates",
              "size: 8, tensors: {keep: ~Main, force_memory_hierarchy_order: false}",
              free_local("All",
                         "  - !Toll {name: Link, tensors: {keep: All}, actions: [{name: read, "
                         "energy: 3, throughput: inf}]}\n"),
              ""));
}

// A toll above the lanes does not stand below what is inside them: two lanes must be used for T2,
// and its reader cannot follow.
TEST(HandWrittenArchitecture, KeepsATollAboveTheLanesInFreeOrders) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 1, N0: 1, N1: 2, A: 1, B: 2}
  einsums:
  - {einsum: "T2[m,n1] = T1[m,n0] * W2[n0,n1]", renames: {input: T1, output: T2, weight: W2}}
  - {einsum: "T3[m,a,b] = exp(T2[m,N1:2*a+b])", renames: {input: T2, output: T3, weight: Nothing}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, force_memory_hierarchy_order: false}, actions: [{name: read, energy: 16, throughput: 4}, {name: write, energy: 32, throughput: 4}]}
  - !Toll {name: Link, tensors: {keep: input}, actions: [{name: read, energy: 3, throughput: inf}]}
  - !Container {name: Cluster, spatial: [{name: x, fanout: 4, min_usage: 1}]}
  - !Memory {name: Buffer, size: inf, tensors: {keep: ~Main}, actions: [{name: read, energy: 2, throughput: 4}, {name: write, energy: 2, throughput: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 2}]}
)yaml",
      false);
}

// T1 lives in Local; a tile of W1 stands in the buffer below a loop that does not index T1.
TEST(HandWrittenArchitecture, KeepsASharedTensorAboveATileOfAnOuterMemory) {
  expect_brute_force_agreement(
      R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2, K: 2, N: 2}
  einsums:
  - "T1[m,n] = T0[m,k] * W1[k,n]"
  - "T2[m,n] = exp(T1[m,n])"
)yaml" +
      arch_of("~Intermediates",
              "size: 16, tensors: {keep: ~Intermediates, force_memory_hierarchy_order: false}",
              free_local("Intermediates", ""), ""));
}

// T1 would be read from a copy in the local buffer that stands above the loop in which T1 is made.
TEST(HandWrittenArchitecture, ReadsNoCopyFromAboveTheLoopThatMakesTheTensor) {
  const std::string workload = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2, N: 2}
  einsums:
  - "T1[m,n] = exp(T0[m,n])"
  - "T2[m,n] = exp(T1[m,n])"
  - "T3[m,n] = T2[m,n] * T1[m,n]"
)yaml";
  const std::string local =
      "  - !Memory {name: Local, size: 48, tensors: {keep: Nothing, may_keep: All}, actions: "
      "[{name: read, energy: 1, throughput: 32}, {name: write, energy: 1, throughput: 32}]}\n";
  expect_brute_force_agreement(
      workload + arch_of("~Intermediates", "size: 32, tensors: {keep: T1}", local, ""));
}

// T2 stands under the loop over n alone, which the instances of Buffer run; the loop over m, below
// it, walks what Link passes on of O. So n, though spatial, must stand between Link and m in READ.
TEST(HandWrittenArchitecture, LetsASpatialLoopStandAboveWhatATollPassesOn) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 16}
  rank_sizes: {M: 2, N: 2, STEP: 3}
  initial: {S: 0}
  einsums:
  - "T2[M:i,N:j] = T1[M:i,N:j] * W[N:j]"
  - "S[STEP:m+1,n] = T2[m,n] * S[STEP:m,n]"
  - "O[m,n] = exp(S[STEP:m,n])"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 48, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Toll {name: Link, tensors: {keep: All}, actions: [{name: read, energy: 4, throughput: inf}]}
  - !Memory {name: Buffer, size: 64, spatial: [{name: x, fanout: 2, may_reuse: All}], tensors: {keep: ~Main}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 4, throughput: inf}]}
  - !Compute {name: MAC, spatial: [{name: y, fanout: 2, may_reuse: Inputs}], actions: [{name: compute, energy: 2, throughput: 1}]}
)yaml");
}

// T0 is kept whole; a tile of its copy T1, in twice the width, lies in T0's reservation unless it
// is the larger.
TEST(HandWrittenArchitecture, ReservesTheLargerOfATensorAndItsWiderCopy) {
  const auto spec_of = [](int room) {
    return fmt::format(R"yaml(workload:
  rank_sizes: {{M: 4, N0: 2}}
  bits_per_value: {{All: 8}}
  persistent_tensors: Inputs - Intermediates
  einsums:
  - name: E1
    is_copy_operation: true
    tensor_accesses:
    - {{name: T0, projection: {{M: m, N0: n0}}}}
    - {{name: T1, projection: {{M: m, N0: n0}}, output: true}}
    renames: {{input: T0, output: T1, weight: Nothing}}
  - {{einsum: "T2[m] = T1[m,n0]", renames: {{input: T1, output: T2, weight: Nothing}}}}
arch:
  nodes:
  - !Memory {{name: Main, size: inf, tensors: {{keep: ~(Intermediates | Persistent)}}, actions: [{{name: read, energy: 48, throughput: inf}}, {{name: write, energy: 16, throughput: inf}}]}}
  - !Memory {{name: Buffer, size: {}, tensors: {{keep: ~Main}}, bits_per_value: {{output: 16}}, actions: [{{name: read, energy: 4, throughput: inf}}, {{name: write, energy: 6, throughput: inf}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 1, throughput: 4}}]}}
)yaml",
                       room);
  };
  for (const int room : {64, 80, 128}) expect_brute_force_agreement(spec_of(room));
}

// T2 is held whole, and a tile of T1, of which it is a copy, lies in its place, also while T1 is
// made: 5 B of Local hold T2 and a value of V. T1 is made first under the loop that its users share
// (seed 43001001), or second, behind X, which takes less.
TEST(HandWrittenArchitecture, KeepsATileInThePlaceOfItsWholeCopy) {
  const auto spec_of = [](const char* makers, int room) {
    return fmt::format(R"yaml(workload:
  rank_sizes: {{N0: 2, N1: 4, A: 2, B: 2}}
  bits_per_value: {{All: 8}}
  einsums:
{}  - {{einsum: "T2[n1] = T1[n1]", is_copy_operation: true}}
  - "R[a,b] = T2[N1:2*a+b]"
arch:
  nodes:
  - !Memory {{name: Main, size: inf, tensors: {{keep: ~Intermediates}}, actions: [{{name: read, energy: 32, throughput: inf}}, {{name: write, energy: 16, throughput: inf}}]}}
  - !Memory {{name: Global, size: 8, tensors: {{keep: X & Intermediates}}, actions: [{{name: read, energy: 2, throughput: inf}}, {{name: write, energy: 2, throughput: inf}}]}}
  - !Memory {{name: Local, size: {}, tensors: {{keep: V | T1 | T2}}, actions: [{{name: read, energy: 1, throughput: inf}}, {{name: write, energy: 1, throughput: inf}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 1, throughput: 4}}]}}
)yaml",
                       makers, room);
  };
  const char* const first = "  - \"T1[n1] = X[n1] * V[n0]\"\n";
  const char* const second = "  - \"X[n1] = W[n1]\"\n  - \"T1[n1] = X[n1] * V[n0]\"\n";
  for (const int room : {32, 40, 48, 56}) {
    expect_brute_force_agreement(spec_of(first, room), room >= 40);
    expect_brute_force_agreement(spec_of(second, room), room >= 40);
  }
}

// T2 is a copy of T1, T1 one of T0, which is kept whole: all three are 24 bits of the buffer.
TEST(HandWrittenArchitecture, ReservesCopiesOfCopiesOnce) {
  for (const char* persistent : {"Inputs - Intermediates", "Nothing"})
    expect_brute_force_agreement(fmt::format(R"yaml(workload:
  rank_sizes: {{M: 1, N0: 3}}
  bits_per_value: {{All: 8}}
  persistent_tensors: {}
  einsums:
  - name: E1
    is_copy_operation: true
    tensor_accesses:
    - {{name: T0, projection: {{M: m, N0: n0}}}}
    - {{name: T1, projection: {{M: m, N0: n0}}, output: true}}
    renames: {{input: T0, output: T1, weight: Nothing}}
  - name: E2
    is_copy_operation: true
    tensor_accesses:
    - {{name: T1, projection: {{M: m, N0: n0}}}}
    - {{name: T2, projection: {{M: m, N0: n0}}, output: true}}
    renames: {{input: T1, output: T2, weight: Nothing}}
  - {{einsum: "T3[m] = T2[m,n0] * T0[m,n0]", renames: {{input: T2, output: T3, weight: T0}}}}
arch:
  nodes:
  - !Memory {{name: Main, size: inf, tensors: {{keep: Nothing}}, actions: [{{name: read, energy: 48, throughput: inf}}, {{name: write, energy: 16, throughput: inf}}]}}
  - !Memory {{name: Buffer, size: 40, tensors: {{keep: All}}, actions: [{{name: read, energy: 2, throughput: inf}}, {{name: write, energy: 2, throughput: inf}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 3, throughput: 4}}]}}
)yaml",
                                             persistent));
}

// The tile of T2 lies in T1, which E3 does not need, but which stands above the loop over n until
// that ends: 72 + 8 bits.
TEST(HandWrittenArchitecture, KeepsATileOfACopyInASourceThatNobodyNeedsAnyMore) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 3, N: 3}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "T1[m,n] = T0[m] * W[n]", name: E1, renames: {input: T0, output: T1, weight: W}}
  - {einsum: "T2[m,n] = T1[m,n]", name: E2, is_copy_operation: true, renames: {input: T1, output: T2, weight: Nothing}}
  - {einsum: "O[n] = T2[m,n] * V[m,n]", name: E3, renames: {input: T2, output: O, weight: V}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Memory {name: Weights, size: 32, tensors: {keep: weight}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 4, throughput: inf}]}
  - !Memory {name: Values, size: 80, tensors: {keep: ~weight}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 1}]}
)yaml");
}

// Main would have to hold what Local backs, if that were left out; and Middle what Main does not.
TEST(HandWrittenArchitecture, BacksATensorFurtherInThanAMemoryThatKeepsWhatOthersDoNot) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 1}
  bits_per_value: {All: 8}
  einsums: ["T[m] = A[m]", "O[m] = T[m]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 32, throughput: inf}, {name: write, energy: 16, throughput: inf}]}
  - !Memory {name: Middle, size: inf, tensors: {keep: ~Main}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Memory {name: Local, spatial: [{name: X, fanout: 3, may_reuse: All}], size: inf, tensors: {keep: Nothing, back: T}, actions: [{name: read, energy: 3, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 2}]}
)yaml");
}

// Two copies are alike but for a tensor of the first, which Local backs: on a relaxed machine as
// well.
TEST(HandWrittenArchitecture, TellsEinsumsApartByWhatAMemoryFurtherInBacks) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 1, N: 1}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "R[m] = T2[m,n]", name: SUM}
  - {einsum: "C[m] = R[m]", name: COPYC, is_copy_operation: true}
  - {einsum: "C2[m] = C[m]", name: COPYC2, is_copy_operation: true}
  - {einsum: "O[m,n] = T2[m,n] * C2[m]", name: NORM}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 48, throughput: inf}, {name: write, energy: 48, throughput: inf}]}
  - !Memory {name: GB, size: inf, tensors: {keep: ~Main}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Memory {name: Local, size: inf, spatial: [{name: LX, fanout: 2, may_reuse: All}], tensors: {keep: All, back: R}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 3, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 2, throughput: 1}]}
)yaml");
}

// What lies outside of the buffer takes no time, so that a relaxed machine costs nothing: the known
// mapping is no bound.
TEST(HandWrittenArchitecture, TakesTimeInABufferAlone) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 4, K: 2, N: 2, L: 2}
  bits_per_value: {All: 8}
  einsums:
  - "H[m,n] = X[m,k] * A[k,n]"
  - "Y[m,l] = H[m,n] * B[n,l]"
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 7, throughput: inf}, {name: write, energy: 7, throughput: inf}]}
  - !Memory {name: Buffer, size: 48, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: 8}]}
  - !Memory {name: Reg, size: 24, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: inf}]}
)yaml");
}

// The persistent T1 stands before T0, whose memory is further out: its copy crosses the network,
// which leaks only where something does.
TEST(HandWrittenArchitecture, ChargesTheNetworkThatACopyIntoAPersistentTensorCrosses) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 1, N0: 1, N1: 1}
  bits_per_value: {All: 8}
  persistent_tensors: Intermediates
  einsums:
  - name: E1
    is_copy_operation: true
    tensor_accesses:
    - {name: T0, projection: {M: m_1, N0: n0_1}}
    - {name: T1, projection: {M: m_1, N0: n0_1}, output: true}
    renames: {input: T0, output: T1, weight: Nothing}
  - {einsum: "T2[m,n1] = T1[m,n0] * W2[n0,n1]", renames: {input: T1, output: T2, weight: W2}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 48, throughput: inf}, {name: write, energy: 16, throughput: inf}]}
  - !Network {name: Network, leak_power: 4, topology: mesh, hop_energy: 1, link_bandwidth: inf, power_gated: true}
  - !Memory {name: Buffer, size: inf, tensors: {keep: ~Main}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 6, throughput: 8}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 2}]}
)yaml");
}

// A tile of O in the buffer shrinks to one value below the loop over which the windows of T and V
// slide; with all of O there would be no room for T's.
TEST(HandWrittenArchitecture, SinksATileThroughALoopThatTheNextNodeSlidesOver) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {N: 4, P: 3}
  bits_per_value: {All: 8}
  einsums:
  - name: PAIR
    iteration_space_shape: [0 <= r < 2]
    tensor_accesses:
    - {name: T, projection: {N: p + r}}
    - {name: V, projection: {N: p + r}}
    - {name: O, projection: {P: p}, output: true}
    renames: {input: T, output: O, weight: V}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 32, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Memory {name: Buffer, size: 24, tensors: {keep: ~Main, may_keep: All}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 6, throughput: inf}]}
  - !Memory {name: Local, size: inf, tensors: {keep: weight}, actions: [{name: read, energy: 3, throughput: inf}, {name: write, energy: 3, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 1}]}
)yaml");
}

// A copy of a persistent tensor is held for the two instances of the Einsum that reads both; the
// Einsum that makes the copy holds it once.
TEST(HandWrittenArchitecture, HoldsACopyOnceWhereItIsMade) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 2, N0: 1, N1: 2}
  bits_per_value: {All: 16}
  persistent_tensors: Intermediates
  einsums:
  - {einsum: "T1[m,n1] = T0[m,n0] * W1[n0,n1]", renames: {input: T0, output: T1, weight: W1}}
  - {einsum: "T3[m,n1] = T1[m,n1]", is_copy_operation: true, renames: {input: T1, output: T3, weight: Nothing}}
  - {einsum: "T4[m,n1] = T3[m,n1] * T1[m,n1]", n_instances: 2, renames: {input: T3 | T1, output: T4, weight: Nothing}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 48, throughput: inf}]}
  - !Memory {name: Buffer, size: 152, tensors: {keep: ~Main}, actions: [{name: read, energy: 6, throughput: inf}, {name: write, energy: 6, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
}

// Loops over b and n are alike to every tensor, but one over r may stand between them: the tile of
// O sinks through the one above it only.
TEST(HandWrittenArchitecture, TellsLoopsApartThatAnotherOneSeparates) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {B: 2, N: 4, P: 1}
  bits_per_value: {All: 8}
  einsums:
  - name: PAIR
    iteration_space_shape: [0 <= r < 2]
    tensor_accesses:
    - {name: T, projection: {B: b, M: p + r, N: n}}
    - {name: V, projection: {B: b, M: p + r, N: n}}
    - {name: O, projection: {B: b, P: p, N: n}, output: true}
    renames: {input: T, output: O, weight: V}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 32, throughput: inf}, {name: write, energy: 16, throughput: inf}]}
  - !Memory {name: Buffer, size: 24, tensors: {keep: ~Main, may_keep: All}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 4, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 4}]}
)yaml");
}

// Below the window no spatial loop has a place; the window slides over a loop that both nodes of
// the weight sink through.
TEST(HandWrittenArchitecture, AsksNoUsageWhereTheOrderOfNodesLeavesNoPlace) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {P: 2, C: 2}
  bits_per_value: {All: 8}
  einsums:
  - name: E
    iteration_space_shape: [0 <= r < 2]
    tensor_accesses:
    - {name: A, projection: {H: p + r, C: c}}
    - {name: W, projection: {R: r, C: c}}
    - {name: O, projection: {P: p}, output: true}
    renames: {input: A, output: O, weight: W}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 48, throughput: inf}]}
  - !Memory {name: Buffer, size: 40, tensors: {keep: All, force_memory_hierarchy_order: false}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Memory {name: Local, spatial: [{name: x, fanout: 2, may_reuse: Nothing, min_usage: 1}], size: inf, tensors: {keep: weight}, actions: [{name: read, energy: 3, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 1}]}
)yaml");
}

// d walks both ranks of T: no loop over one of them, which the maker of T has, is one over d.
// Without that `fused` took the loop over j for both.
TEST(HandWrittenArchitecture, ADiagonalIsNoRank) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {I: 2, J: 2, K: 1}
  bits_per_value: {All: 8}
  einsums: ["T[i,j] = A[i,k] * B[k,j]", "Z[d] = T[I:d,J:d] * C[d]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 9, throughput: 1}, {name: write, energy: 9, throughput: 1}]}
  - !Memory {name: Buffer, size: inf, tensors: {may_keep: All}, spatial: [{name: x, fanout: 2}], actions: [{name: read, energy: 1, throughput: 9}, {name: write, energy: 1, throughput: 9}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
}

// Three ports take 4 s, in which everything leaks 48 J; two take 6 s and leak 72 J. The bound of
// what an Einsum costs at least counted the leakage twice, so that three ports seemed no better.
TEST(HandWrittenArchitecture, LeaksLessWhereItIsQuicker) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 6, N: 1}
  bits_per_value: {All: 8}
  persistent_tensors: weight
  einsums:
  - {einsum: "T2[m,n] = T1[m,n] * W[n]", renames: {input: T1, weight: W}}
  - {einsum: "T3[m,n] = T2[m,n]", renames: {input: T2, weight: Nothing}}
arch:
  nodes:
  - !Memory {name: Main, spatial: [{name: PORT, fanout: 3, may_reuse: Nothing, min_usage: 0.5}], size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 48, throughput: inf}, {name: write, energy: 48, throughput: inf}]}
  - !Memory {name: Buffer, leak_power: 4, size: inf, tensors: {keep: ~Main}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 6, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 0.5}]}
)yaml");
}

}  // namespace
}  // namespace sluice
