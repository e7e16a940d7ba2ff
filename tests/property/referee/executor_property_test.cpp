#include <gtest/gtest.h>

#include "sluice/model/evaluate.h"
#include "sluice/referee/execute.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

/// The triple as YAML, with what differs behind it.
std::string report(const triples::Triple& triple) {
  const triples::Triple simplest = triples::shrink(triple);
  std::string text = triples::to_yaml(simplest);
  for (const std::string& line : triples::differences(*triples::load(simplest, nullptr)))
    text += "# " + line + "\n";
  return text;
}

// Counts, occupancy, padding, merging reads and legality of random workloads, architectures and
// mappings, and numbers that equal the plain evaluation.
TEST(Executor, AgreesWithTheModelOnRandomTriples) {
  const testing::RandomCases cases = testing::random_cases(1400);
  std::int64_t legal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const triples::Triple triple = triples::random_triple(seed);
    std::string why;
    const auto loaded = triples::load(triple, &why);
    ASSERT_TRUE(loaded) << "seed " << seed << ": " << why << "\n" << triples::to_yaml(triple);
    if (evaluate(loaded->problem, loaded->mapping)) ++legal;
    if (!triples::differences(*loaded).empty())
      FAIL() << "seed " << seed << "; the simplest triple that differs:\n" << report(triple);
  }
  // Much of what is drawn must be legal (of ports, trees and shared tiles a third is), some of it
  // not.
  if (cases.count < 100) return;
  EXPECT_GT(5 * legal, 2 * cases.count);
  EXPECT_LT(legal, cases.count);
}

// The numbers are as good as the inputs are: other seeds, other inputs.
TEST(Executor, ComputesTheTruthForAnyInputs) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto loaded = triples::load(triples::random_triple(seed), nullptr);
    ASSERT_TRUE(loaded);
    if (!evaluate(loaded->problem, loaded->mapping)) continue;
    ExecutionOptions options;
    options.seed = 1000 + seed;
    const Execution executed =
        execute(loaded->problem.workload, loaded->problem.arch, loaded->mapping, options);
    EXPECT_TRUE(executed.is_legal()) << "seed " << seed << ": " << executed.complaints[0].message;
    EXPECT_GT(executed.numbers.compared, 0);
    EXPECT_EQ(executed.numbers.differing, 0);
  }
}

}  // namespace
}  // namespace sluice
