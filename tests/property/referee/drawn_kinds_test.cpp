// What strangers brought and no generator drew is at least 5 % of what each of them draws now.
#include <gtest/gtest.h>

#include <map>

#include "oracle/compare.h"
#include "oracle/compound/agreement_case.h"
#include "oracle/compound/compound_case.h"
#include "sluice/model/evaluate.h"
#include "triples/triple.h"

namespace sluice {
namespace {

TEST(DrawnKinds, AreEachATwentiethOfTheTriples) {
  constexpr std::uint64_t kDraws = 2000;
  std::map<std::string, std::uint64_t> drawn;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const triples::Kinds kinds =
        triples::kinds_of(triples::random_triple(seed, triples::kAllKinds));
    for (const auto& kind : triples::named_kinds()) drawn[kind.name] += kinds.*kind.drawn ? 1 : 0;
  }
  for (const auto& [kind, count] : drawn) EXPECT_GE(count, kDraws / 20) << kind;
}

TEST(DrawnKinds, OfForwardsAreEachATwentiethOfTheLegalTriples) {
  std::uint64_t legal = 0;
  std::map<std::string, std::uint64_t> drawn;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const triples::Triple triple = triples::random_triple(seed, triples::kAllKinds);
    const auto loaded = triples::load(triple, nullptr);
    if (!loaded || !evaluate(loaded->problem, loaded->mapping)) continue;
    ++legal;
    const triples::Kinds kinds = triples::kinds_of(triple);
    for (const auto& kind : triples::named_kinds()) drawn[kind.name] += kinds.*kind.drawn ? 1 : 0;
  }
  for (const char* kind : {"forwards_by_channels", "forwards_by_rows", "forwards_by_trees"})
    EXPECT_GE(drawn[kind], legal / 20) << kind;
}

TEST(DrawnKinds, AreEachATwentiethOfTheProblems) {
  constexpr std::uint64_t kDraws = 250;
  const oracle::EnumerationLimits limits = {.max_nests = 8'000, .max_evaluations = 400};
  std::map<std::string, std::uint64_t> drawn;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const oracle::RandomCase drawn_case = oracle::random_case(seed, limits, oracle::kAllExtras);
    const oracle::Extras extras = oracle::extras_of(drawn_case.spec);
    for (const auto& extra : oracle::named_extras())
      drawn[extra.name] += extras.*extra.drawn ? 1 : 0;
  }
  for (const char* kind :
       {"windowed_outputs", "shared_windows", "ports", "leakage", "networks", "many_loops",
        "cycles", "several_makers", "stepped_usage", "whole_actions", "weights_apart", "copies",
        "operands", "backs", "free_ends", "diagonals"})
    EXPECT_GE(drawn[kind], kDraws / 20) << kind;
}

TEST(DrawnKinds, AreEachATwentiethOfTheCompoundProblems) {
  constexpr std::uint64_t kDraws = 400;
  std::map<std::string, std::uint64_t> drawn;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const std::string yaml = oracle::random_compound_yaml(seed, 0);
    const std::string larger = oracle::random_agreement_case(seed).yaml;
    for (const char* kind : {"!Toll", "is_copy_operation"}) {
      drawn[kind] += yaml.find(kind) != std::string::npos ? 1 : 0;
      drawn[std::string(kind) + " where spaces meet"] +=
          larger.find(kind) != std::string::npos ? 1 : 0;
    }
  }
  for (const auto& [kind, count] : drawn) EXPECT_GE(count, kDraws / 20) << kind;
}

}  // namespace
}  // namespace sluice
