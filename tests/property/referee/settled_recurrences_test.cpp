// Recurrences on which model and executor once differed.
#include "property/referee/settled_differences.h"

namespace sluice::settled {
namespace {

std::string state_of(int steps) {
  return "workload:\n  rank_sizes: {I: " + std::to_string(steps) +
         ", M: 1}\n  bits_per_value: {All: 8}\n  initial: {A: 0}\n  einsums:\n"
         "  - {einsum: \"B[i,m] = exp(A[i,m])\", name: B}\n"
         "  - {einsum: \"A[i+1,m] = B[i,m] * C[i,m]\", name: A}\n";
}

// Seed 91,001,226. The last step of one instance is what the next one starts with.
TEST(SettledRecurrences, TheStepsOfAStateAreNotSpreadOverInstances) {
  const Settled found(state_of(4), R"(
  - !Spatial {rank_variable: i, tile_shape: 2, component: Chip, name: c}
  - !Storage {tensors: [A, B, C], component: GB}
  - !Temporal {rank_variable: i, tile_shape: 1}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: B, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: A, component: MAC}]}
)");
  EXPECT_FALSE(found.legal);
}

// Seed 91,003,582. Of one step the reader takes the slice that the state starts with: no cycle.
TEST(SettledRecurrences, AStateOfOneStepIsNoCycleOfAPipeline) {
  const Settled found(state_of(1), R"(
  - !Storage {tensors: [A, B, C], component: GB}
  - !Pipeline
    nodes:
    - !Nested {nodes: [!Compute {einsum: B, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: A, component: MAC}]}
)");
  EXPECT_FALSE(found.legal);  // not priced
}

// Seed 1,600,008,135. The two have no slice in common, and each may have a memory of its own for
// it.
TEST(SettledRecurrences, AStateOfOneStepMayBeInTwoMemories) {
  const Settled found(state_of(1), R"(
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Storage {tensors: [B], component: GB}
      - !Storage {tensors: [A], component: RF}
      - !Compute {einsum: B, component: MAC}
    - !Nested
      nodes:
      - !Storage {tensors: [B], component: GB}
      - !Storage {tensors: [A], component: GB}
      - !Storage {tensors: [C], component: RF}
      - !Compute {einsum: A, component: MAC}
)");
  EXPECT_FALSE(found.legal);  // not priced
}

}  // namespace
// Seed 612,077,187. What B keeps is the slice that the state starts with, whatever A makes.
TEST(SettledRecurrences, AStateOfOneStepMayBeCopiedAboveASharedLoop) {
  const Settled found(
      "workload:\n  rank_sizes: {I: 1, M: 2}\n  bits_per_value: {All: 8}\n  initial: {A: 0}\n"
      "  einsums:\n  - {einsum: \"B[i,m] = exp(A[i,m])\", name: B}\n"
      "  - {einsum: \"A[i+1,m] = B[i,m] * C[i,m]\", name: A}\n",
      R"(
  - !Storage {tensors: [A], component: DRAM}
  - !Storage {tensors: [A], component: GB, incremental: true}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [B], component: GB}, !Compute {einsum: B, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [B], component: GB}, !Storage {tensors: [C], component: DRAM}, !Compute {einsum: A, component: MAC}]}
)");
  EXPECT_TRUE(found.legal);
}

}  // namespace sluice::settled
