#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/frontend/loading.h"

namespace sluice {
namespace {

using ::testing::UnorderedElementsAre;

/// H = A·B, Z = H·C, and one storage constraint with these keys: names of what it keeps.
std::vector<std::string> kept(const std::string& keys) {
  const Specs specs = specs_of(R"yaml(
workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: ["H[m] = A[m] * B[m]", "Z[m] = H[m] * C[m]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
constraints:
  storage: [{memory: DRAM, )yaml" +
                               keys + "}]\n");
  std::vector<std::string> names;
  if (specs.constraints)
    for (const TensorId tensor : specs.constraints->storage.at(0).keep)
      names.push_back((*specs.workload)[tensor].name);
  return names;
}

TEST(Constraints, TakeTensorsAndListsOfThem) {
  EXPECT_THAT(kept("keep: H"), UnorderedElementsAre("H"));
  EXPECT_THAT(kept("keep: [H, C]"), UnorderedElementsAre("H", "C"));
}

// In a list, a tensor called as a set is that tensor.
TEST(Constraints, TakeTensorsCalledAsSets) {
  const Specs specs = specs_of(R"yaml(
workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: ["Outputs[m] = Weights[m] * Inputs[m]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
constraints:
  storage: [{memory: DRAM, keep: [Inputs]}, {memory: DRAM, keep: Inputs}]
)yaml");
  ASSERT_TRUE(specs.constraints);
  EXPECT_EQ(specs.constraints->storage[0].keep.size(), 1U);
  EXPECT_EQ(specs.constraints->storage[1].keep.size(), 2U);
}

// H is an input of the second Einsum and an output of the first.
TEST(Constraints, TakeSetsOfAllEinsumsTogether) {
  EXPECT_THAT(kept("keep: Inputs"), UnorderedElementsAre("A", "B", "H", "C"));
  EXPECT_THAT(kept("keep: Outputs"), UnorderedElementsAre("H", "Z"));
  EXPECT_THAT(kept("keep: ~Intermediates"), UnorderedElementsAre("A", "B", "C", "Z"));
  EXPECT_THAT(kept("keep: [Outputs, A]"), UnorderedElementsAre("H", "Z", "A"));
  EXPECT_THAT(kept("keep: Inputs & Outputs"), UnorderedElementsAre());
}

TEST(Constraints, TakeSetsOfTheEinsumTheyName) {
  EXPECT_THAT(kept("keep: Inputs, einsum: Z"), UnorderedElementsAre("H", "C"));
  EXPECT_THAT(kept("keep: Inputs - H, einsum: Z"), UnorderedElementsAre("C"));
}

}  // namespace
}  // namespace sluice
