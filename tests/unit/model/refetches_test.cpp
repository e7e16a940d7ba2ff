#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

/// DRAM, a buffer GB that may keep everything, a MAC.
Arch buffered() {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 0, kUnbounded),
                     memory("GB", "inf", "Nothing", 0, kUnbounded),
                     compute("MAC", {{"compute", 0, kUnbounded, 1, 0}})};
  return arch;
}

double count(const Cost& cost, const Workload& w, const Arch& arch, const std::string& component,
             const std::string& tensor, const std::string& action) {
  double sum = 0;
  for (const EnergyRow& row : cost.energy)
    if (arch[row.component].name == component && row.tensor && w[*row.tensor].name == tensor &&
        row.action == action)
      sum += *row.count;
  return sum;
}

Node incremental(Node node) {
  std::get<StorageNode>(node.kind).incremental = true;
  return node;
}

// C[m,n] = A[m,k] · B[k,n], M 4, K 2, N 3. GB holds a value of each; loops m, n, k outside it.
// B[k,n] moves at every step of k and n, and at each step of m back to its start: 4 · 3 · 2 = 24.
// A[m,k] moves at each k; at a step of n back to k = 0: 24. With n innermost, A stays: 4 · 2 = 8.
TEST(IncrementalNode, StaysWhereNoLoopMovesIt) {
  const Workload w = WorkloadBuilder({{"m", 4}, {"k", 2}, {"n", 3}}, 8)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  const Arch arch = buffered();
  const MappingBuilder b(w, arch);
  const auto reads = [&](std::vector<std::string> order, const std::string& tensor) {
    NodeList nodes = {b.storage("DRAM", {"A", "B", "C"})};
    for (const std::string& variable : order) nodes.push_back(b.temporal(variable, 1));
    nodes.push_back(incremental(b.storage("GB", {"A", "B", "C"})));
    nodes.push_back(b.compute("C", "MAC"));
    return count(priced(w, arch, nodes), w, arch, "DRAM", tensor, "read");
  };
  EXPECT_EQ(reads({"m", "n", "k"}, "B"), 24);
  EXPECT_EQ(reads({"m", "n", "k"}, "A"), 24);
  EXPECT_EQ(reads({"m", "k", "n"}, "A"), 8);
}

// C stays over k where that is innermost: drained once a value, 12; else at each of its 24 visits,
// of which all but the first of each value, 24 − 12 = 12, read it back.
TEST(IncrementalNode, DrainsAnOutputWhenItMoves) {
  const Workload w = WorkloadBuilder({{"m", 4}, {"k", 2}, {"n", 3}}, 8)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  const Arch arch = buffered();
  const MappingBuilder b(w, arch);
  const auto cost = [&](std::vector<std::string> order) {
    NodeList nodes = {b.storage("DRAM", {"A", "B", "C"})};
    for (const std::string& variable : order) nodes.push_back(b.temporal(variable, 1));
    nodes.push_back(incremental(b.storage("GB", {"C"})));
    nodes.push_back(b.compute("C", "MAC"));
    return priced(w, arch, nodes);
  };
  const Cost stays = cost({"m", "n", "k"}), moves = cost({"k", "m", "n"});
  EXPECT_EQ(count(stays, w, arch, "DRAM", "C", "write"), 12);
  EXPECT_EQ(count(stays, w, arch, "DRAM", "C", "read"), 0);
  EXPECT_EQ(count(moves, w, arch, "DRAM", "C", "write"), 24);
  EXPECT_EQ(count(moves, w, arch, "DRAM", "C", "read"), 12);
}

// M 5 in tiles of 2, 2, 1; K 3 in 2, 1. With k inside m, Z[m] rests while k steps: 5 values once.
// A[m,k] comes tile by tile, each value once: 15. B[k] comes whole for each of the 3 steps of m: 9.
// With m inside k, Z goes away and comes back: written 2 · 5 times, 5 of them read again; B[k]
// rests.
TEST(IncrementalNode, StaysWhereTilesDoNotDivide) {
  const Workload w =
      WorkloadBuilder({{"m", 5}, {"k", 3}}, 8).einsum("Z[m] = A[m,k] * B[k]").workload;
  const Arch arch = buffered();
  const MappingBuilder b(w, arch);
  const auto cost = [&](const std::string& outer, const std::string& inner) {
    return priced(w, arch,
                  {b.storage("DRAM", {"A", "B", "Z"}), b.temporal(outer, 2), b.temporal(inner, 2),
                   incremental(b.storage("GB", {"A", "B", "Z"})), b.temporal("m", 1),
                   b.temporal("k", 1), b.compute("Z", "MAC")});
  };
  const Cost rests = cost("m", "k"), moves = cost("k", "m");
  EXPECT_EQ(count(rests, w, arch, "DRAM", "Z", "write"), 5);
  EXPECT_EQ(count(rests, w, arch, "DRAM", "Z", "read"), 0);
  EXPECT_EQ(count(rests, w, arch, "DRAM", "A", "read"), 15);
  EXPECT_EQ(count(rests, w, arch, "DRAM", "B", "read"), 9);
  EXPECT_EQ(count(moves, w, arch, "DRAM", "Z", "write"), 10);
  EXPECT_EQ(count(moves, w, arch, "DRAM", "Z", "read"), 5);
  EXPECT_EQ(count(moves, w, arch, "DRAM", "B", "read"), 3);
}

// O[p] = I[p+r] · W[r], P 7 in tiles of 3, 3, 1, R 3. Rows of I: 5, then 3 new ones, then 1: each
// of the 9 once.
TEST(IncrementalNode, SlidesToASmallerLastTile) {
  const Workload w =
      WorkloadBuilder({{"p", 7}, {"r", 3}}, 8).einsum("O[p] = I[IP:p+r] * W[r]").workload;
  const Arch arch = buffered();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(
      w, arch,
      {b.storage("DRAM", {"I", "W", "O"}), b.temporal("p", 3), incremental(b.storage("GB", {"I"})),
       b.temporal("p", 1), b.temporal("r", 1), b.compute("O", "MAC")});
  EXPECT_EQ(count(cost, w, arch, "DRAM", "I", "read"), 9);
}

// M 5 in tiles of 4, then 1, each over two instances in tiles of 2: the second one has nothing to
// do in the last tile and keeps what it has. B[n], N 2, inside m: for each of 2 instances once, as
// the first alone goes on to the last tile with B's second value and comes back to its first:
// instance 0: 2 + 2, instance 1: 2 values of B in GB, of which DRAM sends 4 (instance 1 listens).
TEST(IncrementalNode, StaysInInstancesThatHaveNothingToDo) {
  const Workload w =
      WorkloadBuilder({{"m", 5}, {"n", 2}}, 8).einsum("Z[m,n] = A[m] * B[n]").workload;
  Arch arch = buffered();
  arch.components.insert(arch.components.begin() + 1, container("PE", {dimension("x", 2)}));
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "Z"}), b.temporal("m", 4), b.temporal("n", 1),
              b.spatial("m", 2, "PE", 0), incremental(b.storage("GB", {"B"})), b.temporal("m", 1),
              b.compute("Z", "MAC")});
  EXPECT_EQ(count(cost, w, arch, "GB", "B", "write"), 2 + 2 + 2);
  EXPECT_EQ(count(cost, w, arch, "DRAM", "B", "read"), 4);
}

// O[p,q] = I[p+r, q+s] · W[r,s] with P = Q = 4, R = S = 3; GB holds a tile of p 2, q 2: 4 · 4 of I.
// Steps of q move it by 2 of 4 columns: 2 · 4 = 8 new values; a step of p moves rows, and columns
// back: whole. 16 + 8 + 16 + 8 = 48. Loops in the order p alone (q whole): tile 4 · 6, then 2 rows
// of 6: 24 + 12 = 36, the whole input. With the order k, q (k irrelevant, outside) the same as
// above; with a loop over k inside, the tile rests between its moves, and comes whole: 4 · 16.
TEST(IncrementalNode, FetchesOnlyTheNewPartOfASlidingTile) {
  const Workload w = WorkloadBuilder({{"p", 4}, {"q", 4}, {"r", 3}, {"s", 3}, {"k", 2}}, 8)
                         .einsum("O[k,p,q] = I[IP:p+r,IQ:q+s] * W[k,r,s]")
                         .workload;
  const Arch arch = buffered();
  const MappingBuilder b(w, arch);
  const auto reads = [&](const NodeList& outer) {
    NodeList nodes = {b.storage("DRAM", {"I", "W", "O"})};
    nodes.insert(nodes.end(), outer.begin(), outer.end());
    nodes.push_back(incremental(b.storage("GB", {"I"})));
    for (const char* variable : {"p", "q", "r", "s", "k"}) nodes.push_back(b.temporal(variable, 1));
    nodes.push_back(b.compute("O", "MAC"));
    return count(priced(w, arch, nodes), w, arch, "DRAM", "I", "read");
  };
  EXPECT_EQ(reads({b.temporal("p", 2), b.temporal("q", 2)}), 48);
  EXPECT_EQ(reads({b.temporal("p", 2)}), 36);
  EXPECT_EQ(reads({b.temporal("p", 2), b.temporal("q", 2), b.temporal("k", 1)}), 64);
}

// O[p] = I[p+r] · W[r] with p 4 and r 3 over a row and a column of buffers of one value: twelve
// buffers, and 4 + 3 − 1 = 6 different values among them.
TEST(IncrementalNode, SharesEqualTilesOnADiagonal) {
  const Workload w =
      WorkloadBuilder({{"p", 4}, {"r", 3}}, 8).einsum("O[p] = I[IP:p+r] * W[r]").workload;
  Arch arch = buffered();
  arch.components.insert(arch.components.begin() + 1,
                         container("PE", {dimension("x", 4), dimension("y", 3)}));
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"I", "W", "O"}), b.spatial("p", 1, "PE", 0),
                          b.spatial("r", 1, "PE", 1), incremental(b.storage("GB", {"I"})),
                          b.compute("O", "MAC")};
  const Cost cost = priced(w, arch, nodes);
  EXPECT_EQ(count(cost, w, arch, "DRAM", "I", "read"), 6);
  EXPECT_EQ(count(cost, w, arch, "GB", "I", "write"), 12);
}

// As DrainsAnOutputWhenItMoves, C drained 24 times: GB reads C 24 times to accumulate, less the 12
// first ones; the 24 drained values are read only where that counts.
TEST(DrainingReads, AreFreeWhereTheMemorySaysSo) {
  const Workload w = WorkloadBuilder({{"m", 4}, {"k", 2}, {"n", 3}}, 8)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  Arch arch = buffered();
  const auto reads = [&](DrainingReads draining) {
    std::get<Memory>(arch.components[1].kind).draining_reads = draining;
    const MappingBuilder b(w, arch);
    const NodeList nodes = {b.storage("DRAM", {"A", "B", "C"}),
                            b.temporal("k", 1),
                            b.temporal("m", 1),
                            b.temporal("n", 1),
                            b.storage("GB", {"C"}),
                            b.compute("C", "MAC")};
    return count(priced(w, arch, nodes), w, arch, "GB", "C", "read");
  };
  EXPECT_EQ(reads(DrainingReads::kCounted), 24 - 12 + 24);
  EXPECT_EQ(reads(DrainingReads::kFree), 24 - 12);
}

}  // namespace
}  // namespace sluice::testing
