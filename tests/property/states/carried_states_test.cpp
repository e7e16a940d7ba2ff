// Several states and what reads them in the steps of one loop, on a buffer that hardly has room:
// what a step hands to the next is there while every Einsum of the step runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "oracle/executed.h"
#include "oracle/problem/dice.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

/// Two to five Einsums: states that one Einsum makes of itself or two make in turn, and Einsums
/// that read what the step has made so far.
std::string drawn_workload(oracle::Dice& dice) {
  std::vector<std::string> einsums, seen, initial;
  const bool has_rows = dice.chance(60);
  const std::string at = has_rows ? "[i,m]" : "[i]", next = has_rows ? "[i+1,m]" : "[i+1]";
  int n_inputs = 0;
  const auto input = [&] { return fmt::format("X{}{}", n_inputs++, at); };
  const auto some = [&] { return seen.empty() ? input() : dice.one_of(seen); };
  const int n_states = 1 + dice.below(2);
  for (int s = 0; s < n_states; ++s) {
    const std::string state = fmt::format("S{}", s);
    initial.push_back(state + ": 1");
    if (dice.chance(40)) {  // a plain Einsum before
      einsums.push_back(fmt::format("P{}{} = {} * {}", s, at, some(), input()));
      seen.push_back(fmt::format("P{}{}", s, at));
    }
    if (dice.chance(50)) {
      einsums.push_back(fmt::format("{}{} = {}{} * {}", state, next, state, at, some()));
      seen.push_back(state + next);
    } else {
      einsums.push_back(fmt::format("B{}{} = {}{} * {}", s, at, state, at, some()));
      seen.push_back(fmt::format("B{}{}", s, at));
      einsums.push_back(fmt::format("{}{} = {} * {}", state, next, seen.back(), input()));
      seen.push_back(state + next);
    }
  }
  if (einsums.size() < 5 && dice.chance(60))
    einsums.push_back(fmt::format("Z{} = {} * {}", at, some(), some()));
  std::string text;
  for (const std::string& einsum : einsums) text += fmt::format("  - \"{}\"\n", einsum);
  return fmt::format(
      "workload:\n  bits_per_value: {{All: 8}}\n  initial: {{{}}}\n"
      "  rank_sizes: {{I: {}{}}}\n  einsums:\n{}",
      fmt::join(initial, ", "), dice.one_of({2, 3}), has_rows ? ", M: 2" : "", text);
}

std::string drawn_arch(oracle::Dice& dice) {
  return fmt::format(
      R"yaml(arch:
  nodes:
  - !Memory {{name: Main, size: inf, tensors: {{keep: ~Intermediates{}}}, actions: [{{name: read, energy: 64, throughput: 4}}, {{name: write, energy: 32, throughput: 8}}]}}
  - !Memory {{name: Buffer, size: {}, tensors: {{{}}}, actions: [{{name: read, energy: 4, throughput: 16}}, {{name: write, energy: 2, throughput: 16}}]}}
{}  - !Compute {{name: MAC, spatial: [{{name: x, fanout: {}}}], actions: [{{name: compute, energy: 1, throughput: 1}}]}}
)yaml",
      dice.one_of<std::string>({"", ", may_keep: All"}),
      dice.one_of({16, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192}),
      dice.one_of<std::string>({"keep: Intermediates", "may_keep: All", "may_keep: Intermediates",
                                "keep: Intermediates, may_keep: All"}),
      dice.chance(25) ? "  - !Memory {name: Local, size: 16, spatial: [{name: y, fanout: 2}], "
                        "tensors: {may_keep: All}, actions: [{name: read, energy: 1, throughput: "
                        "32}, {name: write, energy: 1, throughput: 32}]}\n"
                      : "",
      dice.one_of({1, 2}));
}

using Outcome = tl::expected<MapperResult, NoMapping>;

Outcome search(const char* mapper, const BoundProblem& problem, MapperOptions options) {
  if (std::string_view(mapper) != "fused") options.budget_evaluations = 20'000;
  return run_mapper(*standard_mappers().find(mapper), problem, options, {});
}

bool is_proven(const Outcome& answer) {
  return answer ? answer->guarantee.kind == GuaranteeKind::kOptimal : answer.error().proven;
}

double value_of(const Outcome& answer, Objective objective) {
  return answer ? objective_value(objective, answer->mappings.front().cost) : 0;
}

void expect_the_executor_agrees(const BoundProblem& problem, const MappedResult& found) {
  const auto otherwise = oracle::executed_otherwise(problem, found.mapping, found.cost);
  EXPECT_FALSE(otherwise) << *otherwise;
}

TEST(CarriedStates, AreThereInAllEinsumsOfAStep) {
  const testing::RandomCases cases = testing::random_cases(40);
  std::int64_t n_equal = 0, n_nothing = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    oracle::Dice dice(cases.seed + static_cast<std::uint64_t>(i));
    const std::string text = drawn_workload(dice) + drawn_arch(dice);
    SCOPED_TRACE(text);
    const auto specs = load_specs_from_text({{"states.yaml", text}}, {});
    ASSERT_TRUE(specs) << to_string(specs.error());
    const BoundProblem problem = *bind(*specs->workload, *specs->arch);
    MapperOptions options;
    options.max_fused_loops = options.max_fused_loops_per_rank = kUnlimitedLoops;
    options.objectives = {dice.one_of({Objective::kEnergy, Objective::kEdp})};
    const Outcome truth = search("exhaustive", problem, options);
    for (const bool has_chains : {true, false}) {
      options.pruning.chains = has_chains;
      const Outcome fused = search("fused", problem, options);
      ASSERT_TRUE(is_proven(fused));
      if (fused) expect_the_executor_agrees(problem, fused->mappings.front());
      if (!is_proven(truth)) continue;
      const Objective objective = options.objectives.front();
      ASSERT_EQ(fused.has_value(), truth.has_value());
      if (truth)
        ASSERT_NEAR(value_of(fused, objective), value_of(truth, objective),
                    1e-12 * value_of(truth, objective));
    }
    if (is_proven(truth)) ++(truth ? n_equal : n_nothing);
    const Outcome frames = search("compound", problem, options);
    if (frames) expect_the_executor_agrees(problem, frames->mappings.front());
  }
  RecordProperty("equal", static_cast<int>(n_equal));
  RecordProperty("nothing", static_cast<int>(n_nothing));
  EXPECT_GE(n_equal * 4, cases.count);
  EXPECT_GE(n_nothing * 40, cases.count);
}

}  // namespace
}  // namespace sluice
