#include "oracle/problem/random_problem.h"

// Problems with more places for loops than bits in a machine word, and few mappings: one order of
// the storage nodes, and ranks of which two or three are larger than 1.

namespace sluice::oracle {
namespace {

using Ranks = std::vector<std::pair<std::string, std::string>>;

AccessSpec access(const std::string& tensor, const Ranks& ranks) { return {tensor, ranks}; }

/// Y[n,k,p,q] = X[n,c,p+r,q+s] · W[k,c,r,s], or the adjoint.
EinsumSpec convolution(bool is_adjoint) {
  EinsumSpec einsum;
  einsum.name = "E1";
  const Ranks small = {{"N", "n"}, {"K", "k"}, {"P", "p"}, {"Q", "q"}};
  const Ranks large = {{"N", "n"}, {"C", "c"}, {"H", "p + r"}, {"V", "q + s"}};
  einsum.inputs = {access("T0", is_adjoint ? small : large),
                   access("W1", {{"K", "k"}, {"C", "c"}, {"R", "r"}, {"S", "s"}})};
  einsum.output = access("T1", is_adjoint ? large : small);
  einsum.weight = "W1";
  return einsum;
}

/// C[a,b,m,n] = A[a,b,m,k] · B[a,b,k,n]
EinsumSpec batched_product() {
  EinsumSpec einsum;
  einsum.name = "E1";
  einsum.inputs = {access("T0", {{"A", "a"}, {"B", "b"}, {"M", "m"}, {"K", "k"}}),
                   access("W1", {{"A", "a"}, {"B", "b"}, {"K", "k"}, {"N", "n"}})};
  einsum.output = access("T1", {{"A", "a"}, {"B", "b"}, {"M", "m"}, {"N", "n"}});
  einsum.weight = "W1";
  return einsum;
}

int size_of(const ProblemSpec& spec, const std::string& rank) {
  for (const auto& [name, size] : spec.rank_sizes)
    if (name == rank) return size;
  return 1;
}

void draw_workload(Dice& dice, ProblemSpec& spec, bool with_windows) {
  std::vector<std::string> ranks = {"A", "B", "M", "N", "K"};
  if (with_windows) ranks = {"N", "K", "C", "P", "Q", "R", "S"};
  for (const std::string& rank : ranks) spec.rank_sizes.emplace_back(rank, 1);
  const int n_larger = dice.chance(15) ? 3 : 2;
  for (int i = 0; i < n_larger; ++i)
    spec.rank_sizes[static_cast<std::size_t>(dice.below(static_cast<int>(ranks.size())))].second =
        dice.one_of({2, 2, 3});
  if (!with_windows) {
    spec.einsums = {batched_product()};
    return;
  }
  spec.einsums = {convolution(dice.chance(40))};
  spec.rank_sizes.emplace_back("H", size_of(spec, "P") + size_of(spec, "R") - 1);
  spec.rank_sizes.emplace_back("V", size_of(spec, "Q") + size_of(spec, "S") - 1);
}

MemorySpec draw_level(Dice& dice, int level) {
  MemorySpec memory;
  memory.name = level == 0   ? "MainMemory"
                : level == 1 ? "GlobalBuffer"
                             : "L" + std::to_string(level);
  memory.keep = "All";
  memory.read_energy = (1 + dice.below(3)) << (2 * (4 - level));
  memory.write_energy = (1 + dice.below(3)) << (2 * (4 - level));
  memory.read_throughput = dice.text_of({"inf", "8", "16", "32"});
  memory.write_throughput = dice.text_of({"inf", "8", "16", "64"});
  if (level == 0) return memory;
  if (dice.chance(25)) memory.size = std::to_string(8 * (6 + dice.below(20)));
  memory.tensor_order = {{dice.text_of({"input", "output"}), "weight"}};
  memory.tensor_order[0].push_back(memory.tensor_order[0][0] == "input" ? "output" : "input");
  return memory;
}

std::vector<FanoutSpec> draw_fanouts(Dice& dice, int n, const std::string& prefix) {
  std::vector<FanoutSpec> spatial;
  for (int i = 0; i < n; ++i)
    spatial.push_back({prefix + std::to_string(i), dice.one_of({2, 3, 4}),
                       dice.text_of({"All", "All", "Nothing", "Inputs"}), "", ""});
  return spatial;
}

}  // namespace

void draw_many_loops(Dice& dice, ProblemSpec& spec) {
  draw_workload(dice, spec, dice.chance(70));
  // With five memories and four dimensions each a variable has 13 + 5 * 4 = 33 places.
  const int n_memories = dice.chance(75) ? 5 : 4;
  const int n_dimensions = dice.one_of({2, 4, 4});
  for (int level = 0; level < n_memories; ++level) {
    spec.memories.push_back(draw_level(dice, level));
    if (level > 0)
      spec.memories.back().spatial = draw_fanouts(dice, n_dimensions, "D" + std::to_string(level));
  }
  spec.compute.name = "MAC";
  spec.compute.energy = 1 + dice.below(3);
  spec.compute.throughput = dice.text_of({"0.5", "1", "2", "4"});
  spec.compute.spatial = draw_fanouts(dice, n_dimensions, "C");
}

}  // namespace sluice::oracle
