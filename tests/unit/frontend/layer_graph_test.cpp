#include "sluice/network/layer_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/frontend/loading.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Workload network_of(const std::string& einsums) {
  return workload_of(
      "workload:\n  rank_sizes: {M: 4, D: 8, N: 6}\n  bits_per_value: {All: 8}\n  einsums:\n" +
      einsums);
}

std::string layers(int times) {
  return "  - repeat: {times: " + std::to_string(times) + R"yaml(, carry: {X: Y}}
    einsums:
    - Z[m,n] = X[m,d] * W[n,d]
    - A[m,n] = relu(Z[m,n])
    - B[m,n] = exp(A[m,n])
    - C[m,n] = tanh(B[m,n])
    - Y[m,d] = C[m,n] * V[d,n]
)yaml";
}

// Five Einsums each; the layer of the middle reads Y_1 and makes Y_2.
TEST(LayerGraph, EqualLayersHaveOneShape) {
  const Workload workload = network_of(layers(3));
  const std::vector<std::size_t> starts = layer_starts(workload);
  EXPECT_THAT(starts, ElementsAre(0, 5, 10));
  const LayerGraph graph = layer_graph(workload, starts);
  ASSERT_EQ(graph.shapes.size(), 1U);
  EXPECT_EQ(graph.shapes[0].n_layers, 3U);
  EXPECT_EQ(graph.shapes[0].workload.einsums[1].name, "A_1");
  EXPECT_THAT(graph.layers[0].previous, IsEmpty());
  EXPECT_THAT(graph.layers[2].previous, ElementsAre(1));
  ASSERT_EQ(graph.lifetimes.size(), 2U);
  EXPECT_EQ(workload[graph.lifetimes[0].tensor].name, "Y_1");
  EXPECT_EQ(graph.lifetimes[0].last_layer, 1U);
}

// Each tensor of a layer is that of the shape with another name.
TEST(LayerGraph, ALayerKnowsItsTensorsByThoseOfTheShape) {
  const Workload workload = network_of(layers(3));
  const LayerGraph graph = layer_graph(workload, layer_starts(workload));
  const Workload& shape = graph.shapes[0].workload;
  for (std::size_t t = 0; t < shape.tensors.size(); ++t) {
    const std::string& first = shape.tensors[t].name;
    const std::string& third = workload[graph.layers[2].tensors[t]].name;
    EXPECT_EQ(third, first == "X" ? "Y_2" : first.substr(0, 2) + "3");
  }
}

// The second layer's result is read by the third and the fifth: it is not what the others make,
// which only the next one reads; but they are all results of their layers.
TEST(LayerGraph, WhoReadsAResultMakesNoOtherShape) {
  const Workload workload = network_of(layers(4) + "  - OUT[m] = sum(Y[m,d] * IN[m,d])\n");
  const LayerGraph graph = layer_graph(workload, {0, 5, 10, 15, 20});
  EXPECT_EQ(graph.shapes.size(), 2U);  // of the layers, and of OUT
}

// C is read inside, and by OUT outside: then it has to leave its layer.
TEST(LayerGraph, WhatLeavesALayerMakesAnotherShape) {
  const Workload workload = network_of(layers(3) + "  - OUT[m] = sum(C_2[m,n])\n");
  const LayerGraph graph = layer_graph(workload, {0, 5, 10, 15});
  EXPECT_EQ(graph.layers[0].shape, graph.layers[2].shape);
  EXPECT_NE(graph.layers[0].shape, graph.layers[1].shape);
}

TEST(LayerGraph, OtherSizesAndOperationsAreOtherShapes) {
  const Workload workload = network_of(R"yaml(  - A[m,n] = X[m,d] * W[n,d]
  - B[m,n] = X[m,d] * W[n,d]
  - C[m,d] = Z[m,n] * W[n,d]
  - D[m,n] = max(X[m,d] * W[n,d])
)yaml");
  const LayerGraph graph = layer_graph(workload, {0, 1, 2, 3});
  EXPECT_EQ(graph.layers[0].shape, graph.layers[1].shape);
  EXPECT_EQ(graph.shapes.size(), 3U);
}

// Two tensors are equal but for their names; an architecture that names one makes them differ.
TEST(LayerGraph, NamesThatMeanSomethingMakeShapesDiffer) {
  const Workload workload = network_of("  - A[m] = X[m] + 1\n  - B[m] = A[m] + 1\n");
  EXPECT_EQ(layer_graph(workload, {0, 1}).shapes.size(), 1U);
  EXPECT_EQ(layer_graph(workload, {0, 1}, {"X"}).shapes.size(), 2U);
}

// 3 of 8 repeat: too few to cut. Short repetitions are put together, here 4 of 2 Einsums each.
TEST(LayerStarts, RepetitionsMakeLayers) {
  EXPECT_THAT(layer_starts(network_of(R"yaml(  - A[m] = X[m] + 1
  - B[m] = A[m] + 1
  - C[m] = A[m] * B[m]
  - D[m] = exp(C[m])
  - E[m] = tanh(D[m])
)yaml")),
              ElementsAre(0));
  EXPECT_THAT(layer_starts(network_of(R"yaml(  - repeat: {times: 8, carry: {X: Y}}
    einsums: ["A[m] = X[m] + 1", "Y[m] = exp(A[m])"]
)yaml")),
              ElementsAre(0, 8));
}

// 60 unlike Einsums: at most 48 together, cut where the one value of S crosses instead of D·4.
TEST(LayerStarts, LongStretchesAreCutWhereLittleCrosses) {
  std::string einsums = "  - T0[m,d] = X[m,d] + 1\n";
  for (int i = 1; i < 60; ++i) {
    const std::string read = "T" + std::to_string(i - 1);
    const std::string make = "T" + std::to_string(i);
    if (i == 30)
      einsums += "  - T30[m] = sum(T29[m,d])\n";
    else if (i == 31)
      einsums += "  - T31[m,d] = T30[m] * Q[d]\n";
    else
      einsums += "  - " + make + "[m,d] = " + read + "[m,d] * " + std::to_string(i + 1) + "\n";
  }
  EXPECT_THAT(layer_starts(network_of(einsums)), ElementsAre(0, 31));
}

// A state that the second Einsum makes and the first reads: no layer begins between them.
TEST(LayerStarts, RecurrencesStayTogether) {
  const Workload workload = network_of(R"yaml(  - repeat: {times: 30, carry: {X: Y}}
    einsums:
    - A[t,m] = H[t,m] * X[t,m]
    - H[t+1,m] = A[t,m] + 1
    - Y[t,m] = A[t,m] * 2
  initial: {H: 0}
  iteration_space_shape: {t: 0 <= t < 4}
)yaml");
  const std::vector<std::size_t> starts = layer_starts(workload);
  EXPECT_GT(starts.size(), 1U);
  for (const std::size_t start : starts) EXPECT_NE(start % 3, 1U);
}

}  // namespace
}  // namespace sluice
