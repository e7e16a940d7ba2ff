// What the chains of all Einsums say, against brute force and against what mappers find.
#include "sluice/model/problem_chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "mapper/common/part_of_problem.h"
#include "mapper/request/constraint_check.h"
#include "odd_fanouts.h"
#include "oracle/compare.h"
#include "sluice/arch/outermost_memory.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/relaxed_bound.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/einsum_chains.h"
#include "sluice/model/inner_chains.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kLimits = {.max_nests = 500, .max_evaluations = 300};
constexpr double kRounding = 1 + 1e-12;  ///< sums of the same terms in another order
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

void one_by_one(std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < count; ++i) body(i);
}

double bound_of(const BoundProblem& problem, Objective objective, Counted counted, double limit) {
  ProblemChains chains(
      problem,
      objective == Objective::kEnergy ? ProblemChains::Goal::kEnergy : ProblemChains::Goal::kEdp,
      counted, nullptr);
  while (chains.refine(limit, one_by_one, nullptr)) continue;
  return chains.bound();
}

TEST(ProblemChains, AreBelowTheOptimum) {
  const Mapper& fused = *standard_mappers().find("fused");
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t asked = 0, met = 0, looser = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp}) {
      MapperOptions options = drawn.options;
      options.objectives = {objective};
      const auto& best =
          objective == Objective::kEnergy ? drawn.truth.best_energy : drawn.truth.best_edp;
      if (drawn.options.constraints != Constraints{} || !best ||
          !takes_relaxed_bound(fused, drawn.problem, options))
        continue;
      SCOPED_TRACE("seed " + std::to_string(seed));
      const double optimum =
          objective_value(objective, best->point.energy_j, best->point.latency_s);
      ++asked;
      const double in_part = bound_of(drawn.problem, objective, Counted::kPart, kNoLimit);
      const double bound = options.row_fusion
                               ? in_part
                               : bound_of(drawn.problem, objective, Counted::kWhole, kNoLimit);
      EXPECT_LE(in_part, optimum * kRounding) << oracle::to_yaml(drawn.spec);
      EXPECT_LE(bound, optimum * kRounding) << oracle::to_yaml(drawn.spec);
      looser += bound * kRounding < in_part;
      EXPECT_GE(in_part, objective_bound(objective, cost_bounds(drawn.problem, Factors::kPerfect)) /
                             kRounding)
          << oracle::to_yaml(drawn.spec);
      met += bound * kRounding >= optimum;
    }
  }
  RecordProperty("asked", static_cast<int>(asked));
  RecordProperty("met", static_cast<int>(met));
  EXPECT_GE(met * 16, asked);
  EXPECT_LE(looser * 50, asked);
}

TEST(ProblemChains, AreBelowWhatMappersFind) {
  const testing::RandomCases cases = testing::random_cases(6);
  std::int64_t asked = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    std::mt19937_64 random(seed);
    MapperOptions options = drawn.options;
    options.constraints = {};
    options.budget_evaluations = 500;
    const BoundProblem problem = testing::with_odd_fanouts(drawn.problem, &random);
    for (const char* name : {"fused", "compound", "anneal"})
      for (const Objective objective : {Objective::kEnergy, Objective::kEdp}) {
        options.objectives = {objective};
        const Mapper& mapper = *standard_mappers().find(name);
        if (!takes_relaxed_bound(mapper, problem, options)) continue;
        const auto best = run_mapper(mapper, problem, options, {});
        if (!best || best->mappings.empty()) continue;
        ++asked;
        const double found = objective_value(objective, best->mappings.front().cost);
        const Counted counted = options.row_fusion ? Counted::kPart : Counted::kWhole;
        EXPECT_LE(bound_of(problem, objective, counted, kNoLimit), found * kRounding)
            << "seed " << seed << " " << name << "\n"
            << oracle::to_yaml(drawn.spec) << to_yaml(problem.arch)
            << to_yaml(best->mappings.front().mapping, problem.workload, problem.arch);
      }
  }
  EXPECT_GT(asked, cases.count);
}

// Where Einsums share no node but the first of a tensor, each costs at least what its chains say.
TEST(ProblemChains, KnowWhatEachEinsumSpendsAmongOthers) {
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t asked = 0, met = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    std::mt19937_64 random(seed);
    MapperOptions options = drawn.options;
    options.constraints = {};
    options.row_fusion = false;
    const BoundProblem problem = testing::with_odd_fanouts(drawn.problem, &random);
    if (factors_of(options) != Factors::kPerfect) continue;
    std::vector<double> least;
    for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
      EinsumChains chains(problem, EinsumId(e), Counted::kWhole);
      least.push_back(
          chains.know_all() ? *chains.least_energy(kNoLimit, one_by_one, nullptr) / kRounding : 0);
    }
    for (const char* name : {"fused", "random", "random", "anneal"}) {
      options.objectives = {Objective::kEnergy};
      options.budget_evaluations.reset();
      if (std::string(name) != "fused") options.budget_evaluations = 20;
      options.seed = random() % 1000;
      const auto best = standard_mappers().find(name)->map(problem, options, {});
      if (!best || best->mappings.empty()) continue;
      const MappedResult& mapped = best->mappings.front();
      std::vector<double> spent(problem.einsums.size(), 0);
      for (const EnergyRow& row : mapped.cost.energy) spent[row.einsum.index()] += row.energy_j;
      for (std::size_t e = 0; e < least.size(); ++e) {
        ++asked;
        met += least[e] * kRounding * kRounding >= spent[e];
        EXPECT_LE(least[e], spent[e]) << "seed " << seed << " " << name << " Einsum " << e << "\n"
                                      << oracle::to_yaml(drawn.spec) << to_yaml(problem.arch)
                                      << to_yaml(mapped.mapping, problem.workload, problem.arch);
      }
    }
  }
  RecordProperty("asked", static_cast<int>(asked));
  RecordProperty("met", static_cast<int>(met));
  EXPECT_GT(met * 16, asked);
}

double least_constant(const InnerWays& ways, std::size_t einsum) {
  double least = kNoLimit;
  for (const InnerWay& way : ways[einsum]) least = std::min(least, way.cuts.front().constant_j);
  return least;
}

// Where all ways to spread an Einsum are not in one list, their groups lead to the same bounds.
TEST(ProblemChains, SayTheSameOfGroupsOfSpreads) {
  constexpr std::size_t kNoLists = 1;
  constexpr double kNearly = 0.996;  // InnerChains
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t n_grouped = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    std::mt19937_64 random(seed);
    const BoundProblem problem = testing::with_odd_fanouts(drawn.problem, &random);
    const std::string what =
        "seed " + std::to_string(seed) + "\n" + oracle::to_yaml(drawn.spec) + to_yaml(problem.arch);
    const ComponentId cut = testing::memories_of(problem.arch).front();
    InnerChains inner(problem, cut, 0, nullptr);
    InnerChains inner_groups(problem, cut, 0, nullptr, kNoLists);
    while (inner.refine(nullptr)) continue;
    while (inner_groups.refine(nullptr)) continue;
    for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
      EinsumChains lists(problem, EinsumId(e), Counted::kWhole);
      EinsumChains groups(problem, EinsumId(e), Counted::kWhole, std::nullopt, kNoLists);
      const auto& first = groups.spreads();
      n_grouped += std::any_of(first.begin(), first.end(),
                               [](const SpreadBound& own) { return own.is_group; });
      const double least = *lists.least_energy(kNoLimit, one_by_one, nullptr);
      EXPECT_EQ(groups.least_energy(kNoLimit, one_by_one, nullptr), least) << what;
      const double of_inner = least_constant(inner.ways(), e);
      if (of_inner < kNoLimit) {
        EXPECT_GE(least_constant(inner_groups.ways(), e), kNearly * of_inner) << what;
      }
      EXPECT_LE(least_constant(inner_groups.ways(), e) * kNearly, of_inner) << what;
    }
    for (const auto goal : {ProblemChains::Goal::kEnergy, ProblemChains::Goal::kEdp}) {
      ProblemChains lists(problem, goal, Counted::kWhole, nullptr);
      ProblemChains groups(problem, goal, Counted::kWhole, nullptr, kNoLists);
      EXPECT_LE(groups.bound(), lists.bound() * kRounding) << what;
      while (lists.refine(kNoLimit, one_by_one, nullptr)) continue;
      while (groups.refine(kNoLimit, one_by_one, nullptr)) continue;
      EXPECT_NEAR(groups.bound(), lists.bound(), lists.bound() * 1e-9) << what;
    }
  }
  RecordProperty("grouped", static_cast<int>(n_grouped));
  EXPECT_GT(n_grouped, cases.count / 4);
}

/// A constraint of each kind that chains know, on components, tensors and variables by chance.
Constraints draw_constraints(const BoundProblem& problem, std::mt19937_64* random) {
  const auto one_of = [&](std::size_t n) { return (*random)() % n; };
  Constraints constraints;
  const std::vector<ComponentId> memories = testing::memories_of(problem.arch);
  const std::vector<TensorId>& tensors = problem.einsums.front().tensors;
  const std::vector<VariableRange>& variables = problem.workload.einsums.front().iteration_space;
  const auto a_memory = [&] { return memories[one_of(memories.size())]; };
  const auto a_tensor = [&] { return tensors[one_of(tensors.size())]; };
  if (one_of(2) == 0) {
    StorageConstraint& storage = constraints.storage.emplace_back();
    storage.name = "storage";
    storage.memory = a_memory();
    (one_of(2) == 0 ? storage.keep : storage.forbid) = {a_tensor()};
  }
  if (one_of(2) == 0) {
    TileConstraint& tile = constraints.tiles.emplace_back();
    tile.name = "tile";
    tile.memory = a_memory();
    tile.variable = variables[one_of(variables.size())].variable;
    if (one_of(4) > 0) tile.tensors = {a_tensor()};
    if (one_of(2) == 0) tile.minimum = 2;
    if (tile.minimum == 1 || one_of(2) == 0) tile.maximum = tile.minimum;
  }
  if (one_of(2) == 0) {
    LoopOrderConstraint& order = constraints.loop_orders.emplace_back();
    order.name = "order";
    order.memory = a_memory();
    for (const VariableRange& range : variables) order.order.push_back(range.variable);
    std::shuffle(order.order.begin(), order.order.end(), *random);
  }
  return constraints;
}

/// What chains prove, against the exact search that knows nothing of them: the same optimum, or,
/// with constraints, none that is worse. Returns whether chains did prove it; nothing where there
/// is nothing to compare.
std::optional<bool> proves_the_same(const BoundProblem& problem, const MapperOptions& options,
                                    const std::string& what) {
  const Mapper& fused = *standard_mappers().find("fused");
  if (!takes_relaxed_bound(fused, problem, options)) return std::nullopt;
  const auto truth = fused.map(problem, options, {});
  if (truth && truth->guarantee.kind != GuaranteeKind::kOptimal) return std::nullopt;
  const auto found = run_mapper(fused, problem, options, {});
  if (!truth) return std::nullopt;  // a node may stand where `fused` would let it sink
  EXPECT_TRUE(found) << what;
  if (!found) return std::nullopt;
  const auto n_broken = [&](const MapperResult& result) {
    return constraint_violations(options.constraints, problem, result.mappings.front().mapping)
        .size();
  };
  const Objective objective = options.objectives.front();
  const double best = objective_value(objective, truth->mappings.front().cost);
  const double own = objective_value(objective, found->mappings.front().cost);
  const auto text = [&](const MapperResult& result) {
    return to_yaml(result.mappings.front().mapping, problem.workload, problem.arch);
  };
  EXPECT_LE(own, best * kRounding) << what << text(*found) << text(*truth);
  if (options.constraints == Constraints{}) {
    EXPECT_GE(own * kRounding, best) << what << text(*found) << text(*truth);
  }
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal) << what;
  // What a constraint asks of a memory that is not on the way to a compute is none of that one's.
  EXPECT_LE(n_broken(*found), n_broken(*truth)) << what;
  return found->search.mappings_considered != truth->search.mappings_considered;
}

/// How often it did, of how many problems and objectives.
struct Proofs {
  std::int64_t asked = 0, by_chains = 0;

  void add(const BoundProblem& problem, MapperOptions options, const std::string& what) {
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp}) {
      options.objectives = {objective};
      const auto proven = proves_the_same(problem, options, what);
      asked += proven.has_value();
      by_chains += proven.value_or(false);
    }
  }
  ~Proofs() {
    ::testing::Test::RecordProperty("asked", static_cast<int>(asked));
    ::testing::Test::RecordProperty("by_chains", static_cast<int>(by_chains));
  }
};

// What comes out is what the search for fused mappings, which knows nothing of chains, finds.
TEST(ProblemChains, ProveWhatTheExactSearchFinds) {
  const testing::RandomCases cases = testing::random_cases(60);
  Proofs proofs;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kProvenExtras);
    std::mt19937_64 random(seed);
    const EinsumId einsum(random() % drawn.problem.workload.einsums.size());
    const auto one = bind_part(testing::with_odd_fanouts(drawn.problem, &random), {einsum});
    if (!one) continue;
    MapperOptions options = drawn.options;
    options.constraints = random() % 2 == 0 ? draw_constraints(*one, &random) : Constraints{};
    proofs.add(*one, options,
               "seed " + std::to_string(seed) + "\n" + oracle::to_yaml(drawn.spec) +
                   to_yaml(one->workload) + to_yaml(one->arch) +
                   to_yaml(options.constraints, one->workload, one->arch));
  }
  EXPECT_GT(proofs.asked, cases.count / 2);
  EXPECT_GT(proofs.by_chains * 8, proofs.asked);
}

// Where the outermost memory keeps all tensors, each Einsum runs as if there were no others.
TEST(ProblemChains, ProveNetworksThatExchangeInTheOutermostMemory) {
  const testing::RandomCases cases = testing::random_cases(60);
  Proofs proofs;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kProvenExtras);
    std::mt19937_64 random(seed);
    const auto outermost = outermost_memory(drawn.problem.arch);
    if (!outermost || drawn.problem.einsums.size() < 2) continue;
    Arch arch = testing::with_odd_fanouts(drawn.problem, &random).arch;
    std::get<Memory>(arch.components[outermost->index()].kind).tensors.keep =
        *Expression::parse("All");
    const auto problem = bind(drawn.problem.workload, arch, drawn.problem.algorithms);
    if (!problem) continue;
    MapperOptions options = drawn.options;
    options.constraints = {};
    options.row_fusion = false;
    proofs.add(*problem, options,
               "seed " + std::to_string(seed) + "\n" + oracle::to_yaml(drawn.spec) +
                   to_yaml(problem->arch));
  }
  EXPECT_GT(proofs.asked, cases.count / 4);
  EXPECT_GT(proofs.by_chains * 16, proofs.asked);
}

}  // namespace
}  // namespace sluice
