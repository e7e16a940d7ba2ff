#include <gtest/gtest.h>

#include <string>

#include "unit/frontend/loading.h"

namespace sluice {
namespace {

std::string layers(int times, const std::string& more = "") {
  return "workload:\n  name: w\n  rank_sizes: {M: 4, D: 8, N: 6}\n  bits_per_value: {All: 8}\n" +
         more +
         "  einsums:\n  - X[m,d] = IN[m,d] + B[d]\n  - repeat: {times: " + std::to_string(times) +
         R"yaml(, carry: {X: Y}, shared: [V]}
    einsums:
    - {einsum: "Z[m,n] = X[m,d] * W[n,d]", renames: {weight: W}}
    - Y[m,d] = Z[m,n] * V[d,n] + B[d]
  - OUT[m] = sum(Y[m,d])
)yaml";
}

std::string tensors_read(const Workload& workload, std::size_t einsum) {
  std::string text;
  for (const TensorAccess& access : workload.einsums.at(einsum).accesses)
    if (!access.is_output) text += workload[access.tensor].name + " ";
  return text;
}

// X; Z_1, Y_1, Z_2, Y_2, Z_3, Y_3; OUT. The layer reads X first, then what the layer before made;
// V is one tensor. B is read above, too, but nobody makes it: each layer has its own.
TEST(RepeatedEinsums, EachLayerReadsWhatTheOneBeforeMade) {
  const Workload w = workload_of(layers(3));
  ASSERT_EQ(w.einsums.size(), 8U);
  EXPECT_EQ(tensors_read(w, 1), "X W_1 ");
  EXPECT_EQ(tensors_read(w, 2), "Z_1 V B_1 ");
  EXPECT_EQ(tensors_read(w, 3), "Y_1 W_2 ");
  EXPECT_EQ(tensors_read(w, 6), "Z_3 V B_3 ");
  EXPECT_EQ(w.einsums[6].name, "Y_3");
  EXPECT_EQ(tensors_read(w, 7), "Y_3 ");  // outside, Y is that of the last layer
}

TEST(RepeatedEinsums, ALayerThatIsThereOnceKeepsItsNames) {
  const Workload w = workload_of(layers(1));
  ASSERT_EQ(w.einsums.size(), 4U);
  EXPECT_EQ(tensors_read(w, 1), "X W ");
  EXPECT_EQ(w.einsums[2].name, "Y");
}

// The rename W of Z_2 is W_2; `initial` holds for the copies in all layers.
TEST(RepeatedEinsums, RolesAndInitialValuesFollowTheNames) {
  const Workload w = workload_of(layers(2, "  initial: {Y: 3}\n"));
  ASSERT_EQ(w.einsums[3].renames.size(), 1U);
  EXPECT_EQ(w[w.einsums[3].renames[0].tensors.at(0)].name, "W_2");
  EXPECT_EQ(w[*find_tensor(w, "Y_1")].initial, 3);
  EXPECT_EQ(w[*find_tensor(w, "Y_2")].initial, 3);
}

// What an Einsum above makes is the same for all layers, without a word about it.
TEST(RepeatedEinsums, WhatIsMadeAboveIsShared) {
  const Workload w = workload_of(R"yaml(
workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums:
  - C[m] = IN[m] + 1
  - repeat: {times: 2, carry: {X: Y}}
    einsums:
    - Y[m] = X[m] * C[m]
)yaml");
  EXPECT_EQ(tensors_read(w, 2), "Y_1 C ");
}

TEST(RepeatedEinsums, RenamesOfAnEinsumHoldInAllLayers) {
  const Workload w = workload_of(layers(2) +
                                 "renames:\n  einsums:\n  - name: Y\n    tensor_accesses: [{name: "
                                 "out, source: Outputs}]\n");
  EXPECT_EQ(w.einsums[2].renames.size(), 1U);
  EXPECT_EQ(w.einsums[4].renames.size(), 1U);
}

}  // namespace
}  // namespace sluice
