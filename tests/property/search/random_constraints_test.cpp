// Constraints on storage, tiles and loop orders drawn at random, on machines with forks among
// others: whatever a mapper finds keeps them, mappers of one space find the same, templates that
// are left out as redundant are no better, and what the free optimum keeps anyway costs nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mapper/request/constrained_problem.h"
#include "mapper/request/constraint_check.h"
#include "oracle/problem/dice.h"
#include "oracle/problem/random_problem.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

std::vector<TensorId> some_tensors(oracle::Dice& dice, const Workload& workload) {
  std::vector<TensorId> tensors;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    if (dice.chance(40)) tensors.emplace_back(t);
  return tensors;
}

/// Divisors of a range as limits, of all tensors or some.
void draw_tile(oracle::Dice& dice, const BoundProblem& problem, ComponentId memory,
               Constraints* drawn) {
  const Einsum& einsum = dice.one_of(problem.workload.einsums);
  const VariableRange& range = dice.one_of(einsum.iteration_space);
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= range.size; ++d)
    if (range.size % d == 0) divisors.push_back(d);
  TileConstraint& tile = drawn->tiles.emplace_back();
  tile.name = "drawn tile";
  tile.variable = range.variable;
  tile.memory = memory;
  if (dice.chance(30)) tile.tensors = some_tensors(dice, problem.workload);
  tile.minimum = dice.one_of(divisors);
  if (dice.chance(50)) tile.maximum = tile.minimum;
}

void draw_order(oracle::Dice& dice, const BoundProblem& problem, ComponentId memory,
                Constraints* drawn) {
  const auto e =
      static_cast<std::size_t>(dice.below(static_cast<int>(problem.workload.einsums.size())));
  LoopOrderConstraint& order = drawn->loop_orders.emplace_back();
  order.name = "drawn order";
  order.einsum = EinsumId(e);
  order.memory = memory;
  for (const VariableRange& range : problem.workload.einsums[e].iteration_space)
    order.order.insert(order.order.begin() + dice.below(static_cast<int>(order.order.size()) + 1),
                       range.variable);
  if (order.order.size() > 2) order.order.resize(2);
}

Constraints drawn_constraints(oracle::Dice& dice, const BoundProblem& problem) {
  std::vector<ComponentId> memories;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (problem.arch.components[c].is_memory()) memories.emplace_back(c);
  Constraints drawn;
  if (dice.chance(40)) {
    draw_tile(dice, problem, dice.one_of(memories), &drawn);
    return drawn;
  }
  if (dice.chance(30)) {
    draw_order(dice, problem, dice.one_of(memories), &drawn);
    return drawn;
  }
  const int n = 1 + dice.below(2);
  for (int i = 0; i < n; ++i) {
    StorageConstraint& own = drawn.storage.emplace_back();
    own.name = fmt::format("drawn {}", i);
    own.memory = dice.one_of(memories);
    if (dice.chance(50))
      own.einsum =
          EinsumId(static_cast<std::size_t>(dice.below(static_cast<int>(problem.einsums.size()))));
    (dice.chance(60) ? own.keep : own.forbid) = some_tensors(dice, problem.workload);
  }
  return drawn;
}

struct Reply {
  tl::expected<MapperResult, NoMapping> result;
  double value = std::numeric_limits<double>::infinity();

  bool is_proven() const {
    return result ? result->guarantee.kind == GuaranteeKind::kOptimal : result.error().proven;
  }
  const Mapping& mapping() const { return result->mappings.front().mapping; }
};

Reply answer_of(const char* mapper, const BoundProblem& problem, MapperOptions options) {
  const std::string name = mapper;
  if (name == "compound") options.max_fused_loops_per_rank = kUnlimitedLoops;
  if (name != "fused") options.budget_evaluations = name == "random" ? 300 : 3'000;
  Reply answer{run_mapper(*standard_mappers().find(mapper), problem, options, {})};
  if (answer.result)
    answer.value =
        objective_value(options.objectives.front(), answer.result->mappings.front().cost);
  return answer;
}

struct Tally {
  std::int64_t found = 0, equal = 0, nothing = 0;
  std::int64_t excluded = 0;  ///< constraints exclude a compute
  std::int64_t kept = 0;      ///< the free optimum keeps them
  std::int64_t ruled = 0;     ///< they are about tiles or orders of loops
};

void check(const BoundProblem& problem, const MapperOptions& free, const Constraints& constraints,
           Tally* tally) {
  MapperOptions options = free;
  options.constraints = constraints;
  for (const char* mapper : {"fused", "exhaustive", "random", "compound"}) {
    const Reply answer = answer_of(mapper, problem, options);
    if (!answer.result) continue;
    ++tally->found;
    ASSERT_TRUE(constraint_violations(constraints, problem, answer.mapping()).empty())
        << mapper << "\n"
        << to_yaml(answer.mapping(), problem.workload, problem.arch);
  }
  const Reply fused = answer_of("fused", problem, options);
  const Reply exhaustive = answer_of("exhaustive", problem, options);
  if (fused.is_proven() && exhaustive.is_proven()) {
    ASSERT_EQ(fused.value, exhaustive.value);
    ++(fused.result ? tally->equal : tally->nothing);
  }
  if (fused.is_proven()) {
    MapperOptions all = options;
    all.pruning.redundant_templates = false;
    const Reply of_all = answer_of("fused", problem, all);
    if (of_all.is_proven()) {
      ASSERT_EQ(fused.result.has_value(), of_all.result.has_value());
    }
    if (of_all.is_proven() && of_all.result) {
      ASSERT_NEAR(fused.value, of_all.value, 1e-12 * of_all.value);
    }
    tally->ruled += !constraints.tiles.empty() || !constraints.loop_orders.empty();
  }
  for (const char* mapper : {"fused", "compound"}) {
    const Reply unbound = answer_of(mapper, problem, free);
    if (!unbound.result || !unbound.is_proven() ||
        !constraint_violations(constraints, problem, unbound.mapping()).empty())
      continue;
    ++tally->kept;
    const Reply bound = answer_of(mapper, problem, options);
    ASSERT_TRUE(bound.result) << mapper << ": " << bound.result.error().reason;
    ASSERT_LE(bound.value, unbound.value * (1 + 1e-9)) << mapper;
  }
}

TEST(RandomConstraints, AreKeptByAllMappersAndCostNothingWhereTheOptimumKeepsThem) {
  const testing::RandomCases cases = testing::random_cases(20);
  Tally tally;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    oracle::Dice dice(seed ^ 0x5deece66dULL);
    oracle::ProblemSpec spec = oracle::random_problem(seed);
    if (!spec.fork && dice.chance(70)) {  // any Einsum may run beside the inner memories
      spec.fork = oracle::ForkSpec{};
      spec.fork->compute = spec.compute;
      spec.fork->compute.name = "ScalarUnit";
    }
    const BoundProblem problem = oracle::bind_problem(spec);
    const Constraints constraints = drawn_constraints(dice, problem);
    if (without_excluded_computes(problem, constraints)) ++tally.excluded;
    check(problem, oracle::options_of(spec), constraints, &tally);
    if (HasFatalFailure()) {
      std::printf("%s\n", oracle::to_yaml(spec).c_str());
      return;
    }
  }
  RecordProperty("found", std::to_string(tally.found));
  RecordProperty("equal", std::to_string(tally.equal));
  RecordProperty("nothing", std::to_string(tally.nothing));
  RecordProperty("excluded", std::to_string(tally.excluded));
  RecordProperty("kept", std::to_string(tally.kept));
  RecordProperty("ruled", std::to_string(tally.ruled));
  if (cases.count < 30) return;
  EXPECT_GE(tally.found, cases.count);
  EXPECT_GE(tally.equal, cases.count / 5);
  EXPECT_GE(tally.nothing, cases.count / 20);
  EXPECT_GE(tally.excluded, cases.count / 30);
  EXPECT_GE(tally.kept, cases.count / 20);
  EXPECT_GE(tally.ruled, cases.count / 5);
}

/// A matrix product, with or without a second one, on a buffer that hardly has room for its tiles:
/// whether they fit depends on how far nodes sink.
std::string tight_problem(oracle::Dice& dice) {
  const bool is_chain = dice.chance(35);
  std::vector<std::string> variables = {"m", "k", "n"};
  if (is_chain) variables.emplace_back("p");
  const auto limits = [&] {
    return dice.one_of<std::string>(
        {"minimum: 2", "maximum: 2", "tile_shape: 2", "minimum: 2, maximum: 4", "maximum: 1"});
  };
  std::string constraints;
  if (dice.chance(70)) {
    const std::string of = dice.one_of<std::string>({"", ", tensors: A", ", tensors: [B, Z]"});
    constraints += fmt::format("  tiles: [{{memory: {}, rank_variable: {}, {}{}}}]\n",
                               dice.one_of<std::string>({"DRAM", "Buffer", "Buffer", "File"}),
                               dice.one_of(variables), limits(), of);
  }
  if (constraints.empty() || dice.chance(40)) {
    const std::string first = dice.one_of(variables);
    std::erase(variables, first);
    constraints +=
        fmt::format("  loop_orders: [{{memory: {}, order: [{}, {}]}}]\n",
                    dice.one_of<std::string>({"DRAM", "Buffer"}), first, dice.one_of(variables));
  }
  return fmt::format(
      R"yaml(workload:
  rank_sizes: {{M: {}, K: {}, N: {}{}}}
  bits_per_value: {{All: 8}}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"{}]
arch:
  nodes:
  - !Memory {{name: DRAM, size: inf, tensors: {{keep: ~Intermediates, may_keep: All}}, actions: [{{name: read, energy: 7, throughput: 3}}, {{name: write, energy: 8, throughput: 2}}]}}
  - !Memory {{name: Buffer, size: {}, tensors: {{{}}}, actions: [{{name: read, energy: 1, throughput: 16}}, {{name: write, energy: 2, throughput: 20}}]}}
  - !Memory {{name: File, size: {}, spatial: [{{name: X, fanout: {}}}], tensors: {{{}}}, actions: [{{name: read, energy: 0.5, throughput: 64}}, {{name: write, energy: 0.5, throughput: 64}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 5, throughput: 1}}]}}
constraints:
{})yaml",
      dice.one_of({2, 4}), dice.one_of({2, 4}), dice.one_of({2, 4}), is_chain ? ", P: 2" : "",
      is_chain ? R"(, "Y[m,p] = Z[m,n] * C[n,p]")" : "", dice.one_of({16, 24, 32, 40, 64, 96}),
      dice.one_of<std::string>({"keep: All", "may_keep: All"}), dice.one_of({8, 16, 24, 64}),
      dice.one_of({1, 1, 2}),
      dice.one_of<std::string>({"keep: A", "may_keep: All", "keep: Nothing"}), constraints);
}

TEST(RandomConstraints, AreSearchedExactlyWhereNodesSinkToFit) {
  const testing::RandomCases cases = testing::random_cases(24);
  std::int64_t n_equal = 0, n_nothing = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    oracle::Dice dice(cases.seed + static_cast<std::uint64_t>(i));
    const std::string text = tight_problem(dice);
    SCOPED_TRACE(text);
    const auto specs = load_specs_from_text({{"tight.yaml", text}}, {});
    ASSERT_TRUE(specs) << to_string(specs.error());
    const BoundProblem problem = *bind(*specs->workload, *specs->arch);
    MapperOptions options;
    options.objectives = {dice.one_of({Objective::kEnergy, Objective::kEdp})};
    options.constraints = *specs->constraints;
    const Reply exhaustive = answer_of("exhaustive", problem, options);
    if (!exhaustive.is_proven()) continue;
    for (const bool has_chains : {true, false}) {
      options.pruning.chains = has_chains;
      const Reply fused = answer_of("fused", problem, options);
      ASSERT_TRUE(fused.is_proven());
      ASSERT_EQ(fused.result.has_value(), exhaustive.result.has_value());
      if (!fused.result) continue;
      ASSERT_NEAR(fused.value, exhaustive.value, 1e-12 * exhaustive.value);
      ASSERT_TRUE(constraint_violations(options.constraints, problem, fused.mapping()).empty());
    }
    ++(exhaustive.result ? n_equal : n_nothing);
  }
  RecordProperty("equal", static_cast<int>(n_equal));
  RecordProperty("nothing", static_cast<int>(n_nothing));
  EXPECT_GE(n_equal * 4, cases.count);
}

}  // namespace
}  // namespace sluice
