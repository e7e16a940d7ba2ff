// Recurrences of several Einsums whose tensors all live outside the loop over the steps.
#include "brute_force_agreement.h"

namespace sluice {
namespace {

std::string arch_of_states(const std::string& main, const std::string& buffer) {
  return R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: )yaml" +
         main +
         R"yaml(}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, )yaml" +
         buffer +
         R"yaml(, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, spatial: [{name: x, fanout: 2}], actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
}

std::string workload_of(const std::string& sizes, const std::string& einsums) {
  return "workload:\n  bits_per_value: {All: 8}\n  initial: {A: 0}\n  rank_sizes: {" + sizes +
         "}\n  einsums:\n" + einsums;
}

const std::string kTwo = "  - \"B[i,m] = exp(A[i,m])\"\n  - \"A[i+1,m] = B[i,m] * C[i,m]\"\n";

TEST(OuterRecurrences, AllTensorsStayInTheMainMemory) {
  expect_brute_force_agreement(workload_of("I: 2, M: 2", kTwo) +
                               arch_of_states("All", "size: inf, tensors: {keep: Nothing}"));
}

TEST(OuterRecurrences, ABufferMayKeepWhatTheStepsUse) {
  expect_brute_force_agreement(workload_of("I: 2, M: 2", kTwo) +
                               arch_of_states("All", "size: 32, tensors: {may_keep: All}"));
  expect_brute_force_agreement(workload_of("I: 2, M: 2", kTwo) +
                               arch_of_states("~Intermediates", "size: 48, tensors: {keep: All}"));
}

// D stands between the two; it shares the loop without a step of its own.
TEST(OuterRecurrences, AnEinsumInBetweenStandsInTheLoop) {
  expect_brute_force_agreement(
      workload_of("I: 2, M: 2",
                  "  - \"B[i,m] = exp(A[i,m])\"\n  - \"D[i] = sum(B[i,m])\"\n"
                  "  - \"A[i+1,m] = B[i,m] * D[i]\"\n") +
      arch_of_states("All", "size: 16, tensors: {may_keep: All}"));
}

TEST(OuterRecurrences, TwoRecurrencesFollowEachOther) {
  expect_brute_force_agreement(
      "workload:\n  bits_per_value: {All: 8}\n  initial: {A: 0, F: 0}\n  rank_sizes: {I: 2, J: 2}\n"
      "  einsums:\n  - \"B[i] = exp(A[i])\"\n  - \"A[i+1] = B[i] * C[i]\"\n"
      "  - \"G[j] = exp(F[j])\"\n  - \"F[j+1] = G[j] * B[I:j]\"\n" +
      arch_of_states("All", "size: 16, tensors: {may_keep: Intermediates}"));
}

// The last slice of the state is a result: read after the loop.
TEST(OuterRecurrences, TheLastSliceIsReadAfterTheLoop) {
  expect_brute_force_agreement(workload_of("I: 2, M: 2", kTwo + "  - \"Z[m] = exp(A[i:2,m])\"\n") +
                               arch_of_states("All", "size: 24, tensors: {may_keep: All}"));
}

// The lanes are to be filled: by m, inside the steps, also where the steps stand above all lanes.
TEST(OuterRecurrences, FillsDemandingLanes) {
  std::string arch = arch_of_states("All",
                                    "size: 32, spatial: [{name: y, fanout: 2, min_usage: 1}], "
                                    "tensors: {may_keep: All}");
  arch.replace(arch.find("{name: x, fanout: 2}"), 20, "{name: x, fanout: 2, min_usage: 1}");
  expect_brute_force_agreement(workload_of("I: 2, M: 4", kTwo) + arch);
}

// The steps alone could fill the lanes, if they were not one after the other.
TEST(OuterRecurrences, FillsNoLanesWithSteps) {
  std::string arch = arch_of_states("All", "size: inf, tensors: {may_keep: All}");
  arch.replace(arch.find("{name: x, fanout: 2}"), 20, "{name: x, fanout: 2, min_usage: 1}");
  expect_brute_force_agreement(workload_of("I: 2, M: 1", kTwo) + arch);
}

// One step: the buffer holds both slices of A, 4 values, and B. With both values of B, which the
// lanes would need, that is 48 bits; each Einsum alone, with its own slice of A, would take 32.
TEST(OuterRecurrences, FillsNoLanesWhereBothSlicesOfAStateTakeTheirRoom) {
  for (const int bits : {40, 48}) {
    std::string arch = arch_of_states("~Intermediates",
                                      "size: " + std::to_string(bits) + ", tensors: {keep: ~Main}");
    arch.replace(arch.find("{name: x, fanout: 2}"), 20, "{name: x, fanout: 2, min_usage: 1}");
    expect_brute_force_agreement(workload_of("I: 1, M: 2", kTwo) + arch);
  }
}

// B read whole after the steps, C read by both.
TEST(OuterRecurrences, WhatIsMadeInTheStepsIsReadByOthers) {
  expect_brute_force_agreement(
      workload_of("I: 2, M: 2", kTwo + "  - \"Y[m] = B[i,m] * C[i,m]\"\n") +
      arch_of_states("All", "size: 24, tensors: {may_keep: C | Y}"));
}

// A stands in the buffer for a third Einsum, and keeps B's copies of both steps' Einsums from
// sinking: these stand above the split, and B itself once above both.
TEST(OuterRecurrences, CopiesOfWhatOnlyTheStepsUseStandAboveAStateThatOthersRead) {
  std::string arch = arch_of_states("~Intermediates", "size: 96, tensors: {keep: ~Main}");
  arch.insert(arch.find("  - !Compute"),
              "  - !Memory {name: Local, size: 32, tensors: {may_keep: B, "
              "force_memory_hierarchy_order: false}, actions: [{name: read, energy: 1, throughput: "
              "32}, {name: write, energy: 1, throughput: 32}]}\n");
  expect_brute_force_agreement(
      workload_of("I: 2, M: 2", kTwo + "  - \"D[i,m] = exp(A[i+1,m])\"\n") + arch);
}

// What Z makes is held below the loops while B is made, which no tensor ties to Z: of loops equally
// long, those are one over which the last Einsum will read both.
TEST(OuterRecurrences, LoopsOfEinsumsThatALaterOneTiesAreTheSame) {
  expect_brute_force_agreement(
      workload_of("I: 2, M: 2", "  - \"C[i,m] = exp(X[i,m])\"\n" + kTwo) +
      arch_of_states("~Intermediates", "size: 32, tensors: {keep: ~Main, may_keep: All}"));
}

/// Main does not keep `away`, which stands in a memory of its own below it.
std::string arch_with_second_home(const std::string& away, const std::string& size) {
  std::string arch = arch_of_states("~" + away, "size: 64, tensors: {may_keep: ~" + away + "}");
  arch.insert(arch.find("  - !Memory {name: Buffer"),
              "  - !Memory {name: Second, size: " + size + ", tensors: {keep: " + away +
                  "}, actions: [{name: read, energy: 1, throughput: 32}, {name: write, energy: 1, "
                  "throughput: 32}]}\n");
  return arch;
}

// The steps stand below W's backing node, which they do not index: it has room for all of W, or for
// nothing.
TEST(OuterRecurrences, AWeightMayBeBackedInAnotherMemoryThanTheStates) {
  for (const auto& [size, legal] : {std::pair("8", false), std::pair("16", true)})
    expect_brute_force_agreement(workload_of("I: 2, M: 2",
                                             "  - \"B[i,m] = A[i,m] * W[m] * U[m]\"\n"
                                             "  - \"A[i+1,m] = B[i,m] * C[i,m]\"\n") +
                                     arch_with_second_home("W", size),
                                 legal);
}

// What the steps index may also be backed inside of them.
TEST(OuterRecurrences, AnInputOfEachStepMayBeBackedInTheSteps) {
  for (const char* size : {"8", "16", "inf"})
    expect_brute_force_agreement(workload_of("I: 2, M: 2", kTwo) +
                                 arch_with_second_home("C", size));
}

// Above the steps a loop over m leaves a state of one value a slice: two slices and B's value,
// where both values of m would take 6. What is exchanged stands below the steps.
TEST(OuterRecurrences, LoopsMayStandAboveTheSteps) {
  for (const auto& [size, legal] : {std::pair("16", false), std::pair("24", true)})
    expect_brute_force_agreement(
        workload_of("I: 2, M: 2", kTwo) +
            arch_of_states("~Intermediates",
                           std::string("size: ") + size + ", tensors: {keep: Intermediates}"),
        legal);
}

// D has no step of its own; it stands below the same loops.
TEST(OuterRecurrences, AnEinsumInBetweenStandsBelowWhatIsAboveTheSteps) {
  expect_brute_force_agreement(
      workload_of("I: 2, M: 2",
                  "  - \"B[i,m] = exp(A[i,m])\"\n  - \"D[i,m] = exp(B[i,m])\"\n"
                  "  - \"A[i+1,m] = D[i,m] * C[i,m]\"\n") +
      arch_of_states("~Intermediates", "size: 32, tensors: {keep: Intermediates}"));
}

// P is the state of one Einsum alone: no loop over m stands between the steps and its room, which
// is that of two slices.
TEST(OuterRecurrences, AStateOfOneEinsumInBetweenIsNotTakenFromStepToStepInParts) {
  const std::string einsums =
      "  - \"B[i,m] = exp(A[i,m])\"\n  - \"P[i+1,m] = P[i,m] * B[i,m]\"\n"
      "  - \"A[i+1,m] = B[i,m] * C[i,m]\"\n";
  for (const auto& [size, legal] : {std::pair("16", false), std::pair("32", true)}) {
    std::string text = workload_of("I: 2, M: 2", einsums) + arch_with_second_home("P", size);
    text.replace(text.find("{A: 0}"), 6, "{A: 0, P: 0}");
    expect_brute_force_agreement(text, legal);
  }
}

}  // namespace
}  // namespace sluice
