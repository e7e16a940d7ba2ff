#include "sluice/mapping/drawing.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

AffineExpression plain(RankVariableId variable) { return {{{variable, 1}}, 0}; }

TensorAccess access(TensorId tensor, std::size_t first, std::size_t second, bool is_output) {
  return {tensor, {plain(RankVariableId(first)), plain(RankVariableId(second))}, is_output, 8};
}

Tensor matrix(const std::string& name, std::size_t rows, std::size_t columns) {
  Tensor tensor;
  tensor.name = name;
  tensor.ranks = {RankId(rows), RankId(columns)};
  return tensor;
}

/// `layers` matrix products T(i+1)[m,n] = T(i)[m,k] * W(i)[k,n] of 8 × 4 by 4 × 4 values of 8 bits.
Workload chain(std::size_t layers) {
  Workload workload;
  workload.ranks = {{"M", 8}, {"N", 4}, {"K", 4}};
  workload.rank_variables = {{"m"}, {"n"}, {"k"}};
  workload.tensors.push_back(matrix("T0", 0, 1));
  for (std::size_t i = 0; i < layers; ++i) {
    workload.tensors.push_back(matrix("W" + std::to_string(i), 2, 1));
    workload.tensors.push_back(matrix("T" + std::to_string(i + 1), 0, 1));
    Einsum einsum;
    einsum.name = "E" + std::to_string(i);
    einsum.accesses = {access(TensorId(2 * i), 0, 2, false),
                       access(TensorId(2 * i + 1), 2, 1, false),
                       access(TensorId(2 * i + 2), 0, 1, true)};
    einsum.iteration_space = {
        {RankVariableId(0), 0, 8}, {RankVariableId(1), 0, 4}, {RankVariableId(2), 0, 4}};
    workload.einsums.push_back(einsum);
  }
  return workload;
}

Arch two_levels() {
  Arch arch;
  Component memory;
  memory.name = "Buffer";
  memory.kind = Memory{};
  Component compute;
  compute.name = "MAC";
  compute.kind = Compute{};
  SpatialDimension dimension;
  dimension.name = "x";
  dimension.fanout = 4;
  compute.spatial.push_back(dimension);
  arch.components = {memory, compute};
  return arch;
}

StorageNode in_buffer(std::vector<TensorId> tensors) {
  StorageNode node;
  node.tensors = std::move(tensors);
  node.component = ComponentId(0);
  return node;
}

NodeList layer(std::size_t i) {
  const ComponentId mac(1);
  return {Node{in_buffer({TensorId(2 * i + 1)})}, Node{TemporalNode{{RankVariableId(0)}, 1, {}}},
          Node{SpatialNode{{RankVariableId(1)}, 1, mac, 0, {}}},
          Node{TemporalNode{{RankVariableId(2)}, 1, {}}}, Node{ComputeNode{EinsumId(i), mac}}};
}

Mapping chain_mapping(std::size_t layers) {
  SplitNode split;
  for (std::size_t i = 0; i < layers; ++i) split.children.push_back(layer(i));
  Mapping mapping;
  mapping.nodes = {Node{in_buffer({TensorId(0)})}, Node{TemporalNode{{RankVariableId(0)}, 4, {}}},
                   Node{split}};
  return mapping;
}

TEST(Drawing, ShowsTripsTilesAndBranches) {
  // T0 is 8 × 4 bytes; the loop over m has 8 / 4 = 2 trips; W0 is 4 × 4 bytes.
  EXPECT_EQ(to_drawing(chain_mapping(2), chain(2), two_levels()),
            "Buffer holds T0 32 B [M 8, N 4]\n"
            "for m ×2 of 4\n"
            "  ├─ Buffer holds W0 16 B [K 4, N 4]\n"
            "  │  for m ×4 of 1\n"
            "  │    spread n ×4 of 1 across MAC.x\n"
            "  │      for k ×4 of 1\n"
            "  │        MAC computes E0\n"
            "  └─ Buffer holds W1 16 B [K 4, N 4]\n"
            "     for m ×4 of 1\n"
            "       spread n ×4 of 1 across MAC.x\n"
            "         for k ×4 of 1\n"
            "           MAC computes E1\n");
}

TEST(Drawing, FoldsBranchesThatDifferInNamesOnly) {
  DrawingOptions options;
  options.compact = true;
  options.ascii = true;
  EXPECT_EQ(to_drawing(chain_mapping(40), chain(40), two_levels(), options),
            "Buffer holds T0 32 B\n"
            "for m x2 of 4\n"
            "|- Buffer holds W0 16 B\n"
            "|  for m x4 of 1, n x4 of 1 across MAC.x, k x4 of 1\n"
            "|  MAC computes E0\n"
            "`- the branch above 39 times more with other names: E1 ... E39\n");
}

TEST(Drawing, BreaksLongLinesOfTheCompactForm) {
  Mapping mapping = chain_mapping(4);
  mapping.nodes.front() = Node{in_buffer({TensorId(0), TensorId(1), TensorId(3), TensorId(5)})};
  DrawingOptions options;
  options.compact = true;
  options.width = 40;
  const std::string drawing = to_drawing(mapping, chain(4), two_levels(), options);
  EXPECT_EQ(drawing.substr(0, drawing.find("for")),
            "Buffer holds T0 32 B, W0 16 B, W1 16 B,\n    W2 16 B\n");
}

}  // namespace
}  // namespace sluice
