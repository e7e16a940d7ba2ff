// Chains of problems whose optimum can be counted by hand.
#include "sluice/model/problem_chains.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <variant>

#include "sluice/frontend/load.h"

namespace sluice {
namespace {

/// A memory at 10 J for each value, registers that cost nothing, and one compute at 1 Hz.
BoundProblem chain_problem(const std::string& workload, const std::string& register_bits) {
  const std::string text =
      workload + R"yaml(
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 10, throughput: inf, bits_per_action: 8}, {name: write, energy: 10, throughput: inf, bits_per_action: 8}]}
  - !Memory {name: Registers, size: )yaml" +
      register_bits +
      R"yaml(, tensors: {keep: All}, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0, throughput: 1}]}
)yaml";
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  return *bind(*specs->workload, *specs->arch);
}

constexpr const char* kMatmul = R"yaml(workload:
  rank_sizes: {M: 2, K: 2, N: 2}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"])yaml";

struct Found {
  double bound = 0;
  std::size_t n_nodes = 0;  ///< of the last chain
};

Found refined(const BoundProblem& problem, ProblemChains::Goal goal) {
  ProblemChains chains(problem, goal, Counted::kPart, nullptr);
  const auto one_by_one = [](std::size_t count, const auto& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  };
  Found found;
  while (chains.refine(std::numeric_limits<double>::infinity(), one_by_one, nullptr))
    while (const auto chain = chains.next_chain()) {
      found.n_nodes = 0;
      for (const auto& step : chain->steps)
        found.n_nodes += std::holds_alternative<ChainNode>(step);
    }
  found.bound = chains.bound();
  return found;
}

// Three values: Z stays for both k, A and B are read for each of 8 points: 4 + 8 + 8 values. Four:
// two of Z stay, and A for both n: 4 + 4 + 8.
TEST(ProblemChainsByHand, FindWhatRegistersHoldBest) {
  const BoundProblem three = chain_problem(kMatmul, "24"), four = chain_problem(kMatmul, "32");
  EXPECT_DOUBLE_EQ(refined(three, ProblemChains::Goal::kEnergy).bound, 200);
  EXPECT_DOUBLE_EQ(refined(four, ProblemChains::Goal::kEnergy).bound, 160);
  EXPECT_DOUBLE_EQ(refined(four, ProblemChains::Goal::kEdp).bound, 160 * 8);
  EXPECT_EQ(refined(four, ProblemChains::Goal::kEdp).n_nodes, 6);
}

// Two values hold no operand of each kind: no bound of chains, but that of the operands alone.
TEST(ProblemChainsByHand, SayNothingWhereNothingFits) {
  const Found found = refined(chain_problem(kMatmul, "16"), ProblemChains::Goal::kEnergy);
  EXPECT_DOUBLE_EQ(found.bound, 120);
  EXPECT_EQ(found.n_nodes, 0);
}

// 6 values of I, 3 of W, and 4 of O pass once where all of W, a window and a sum fit (56 bits).
// With one value less, I is read again.
TEST(ProblemChainsByHand, SlideWindows) {
  constexpr const char* kConvolution = R"yaml(workload:
  rank_sizes: {P: 4, R: 3, I: 6}
  bits_per_value: {All: 8}
  einsums: ["O[p] = X[I:p+r] * W[r]"])yaml";
  EXPECT_DOUBLE_EQ(refined(chain_problem(kConvolution, "56"), ProblemChains::Goal::kEnergy).bound,
                   130);
  EXPECT_GT(refined(chain_problem(kConvolution, "48"), ProblemChains::Goal::kEnergy).bound, 130);
}

// Two matmuls that exchange nothing cost twice as much as one, and take twice as long.
TEST(ProblemChainsByHand, AddEqualEinsums) {
  const BoundProblem two = chain_problem(R"yaml(workload:
  rank_sizes: {M: 2, K: 2, N: 2}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]", "Y[m,n] = C[m,k] * D[k,n]"])yaml",
                                         "24");
  EXPECT_DOUBLE_EQ(refined(two, ProblemChains::Goal::kEnergy).bound, 400);
  EXPECT_DOUBLE_EQ(refined(two, ProblemChains::Goal::kEdp).bound, 400 * 16);
}

TEST(ProblemChainsByHand, EndWhereTheyAreCancelled) {
  const BoundProblem problem = chain_problem(kMatmul, "24");
  const std::atomic<bool> cancelled{true};
  ProblemChains chains(problem, ProblemChains::Goal::kEnergy, Counted::kPart, &cancelled);
  EXPECT_FALSE(chains.refine(
      1e9, [](std::size_t, const auto&) {}, &cancelled));
}

}  // namespace
}  // namespace sluice
