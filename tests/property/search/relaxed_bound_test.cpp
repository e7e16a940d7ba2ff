// What no mapping is below, by perfect factors and by a relaxed machine, against brute force.
#include "sluice/mapper/relaxed_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "odd_fanouts.h"
#include "oracle/compare.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/relaxed_machine.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kDrawnSizes = {.max_nests = 500, .max_evaluations = 300};
constexpr double kOtherOrder = 1 + 1e-12;  ///< sums of the same terms in another order
constexpr double kUnbeaten = std::numeric_limits<double>::infinity();

double optimum_of(const oracle::Enumeration& truth, Objective objective) {
  const auto& best = objective == Objective::kEnergy    ? truth.best_energy
                     : objective == Objective::kLatency ? truth.best_latency
                                                        : truth.best_edp;
  return best ? objective_value(objective, best->point.energy_j, best->point.latency_s) : kUnbeaten;
}

/// Memories that a relaxed machine has inside its cut, for the cut with the most.
std::size_t most_rooms(const BoundProblem& problem) {
  std::size_t most = 0;
  for (const ComponentId cut : relaxation_cuts(problem))
    if (const auto relaxed =
            relaxed_machine(problem, cut, InnerOperands(problem.einsums.size(), 0)))
      most = std::max(most,
                      relaxed->arch.components.size() - kept_components(problem, cut).size() - 1);
  return most;
}

TEST(RelaxedBound, IsBelowTheOptimumAndOftenAboveOtherBounds) {
  const Mapper& fused = *standard_mappers().find("fused");
  const testing::RandomCases cases = testing::random_cases(40);
  std::int64_t asked = 0, known = 0, sharper_factors = 0, sharper = 0, several_rooms = 0,
               sharper_by_chains = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kDrawnSizes, oracle::kAllExtras);
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      MapperOptions options = drawn.options;
      options.objectives = {objective};
      const double optimum = optimum_of(drawn.truth, objective);
      if (drawn.options.constraints != Constraints{} || optimum == kUnbeaten) continue;
      SCOPED_TRACE("seed " + std::to_string(seed));
      const CostBounds own = space_bounds(fused, drawn.problem, options);
      const double of_factors = objective_bound(objective, own);
      EXPECT_LE(of_factors, optimum * kOtherOrder) << oracle::to_yaml(drawn.spec);
      sharper_factors +=
          of_factors > objective_bound(objective, drawn.problem.bounds) * kOtherOrder;
      if (!takes_relaxed_bound(fused, drawn.problem, options)) continue;
      ++asked;
      several_rooms += most_rooms(drawn.problem) > 1;
      double relaxed = 0;
      MapperOptions without = options;
      without.pruning.chains = false;
      const double no_chains = relaxed_bound(drawn.problem, without, kUnbeaten, nullptr, {});
      for (const double limit : {kUnbeaten, 2 * optimum, 1.01 * optimum}) {
        const double bound = relaxed_bound(drawn.problem, options, limit, nullptr, {});
        EXPECT_LE(bound, optimum * kOtherOrder) << limit << "\n" << oracle::to_yaml(drawn.spec);
        relaxed = std::max(relaxed, bound);
        if (limit == kUnbeaten) {
          EXPECT_GE(bound, no_chains / kOtherOrder) << oracle::to_yaml(drawn.spec);
          sharper_by_chains += bound > no_chains * kOtherOrder;
        }
      }
      known += relaxed > 0;
      sharper += relaxed > of_factors * kOtherOrder;
    }
  }
  RecordProperty("asked", static_cast<int>(asked));
  RecordProperty("known", static_cast<int>(known));
  RecordProperty("sharper_factors", static_cast<int>(sharper_factors));
  RecordProperty("sharper", static_cast<int>(sharper));
  RecordProperty("sharper_by_chains", static_cast<int>(sharper_by_chains));
  RecordProperty("several_rooms", static_cast<int>(several_rooms));
  EXPECT_GE(known * 2, asked);
  EXPECT_GE(several_rooms * 20, asked);
  EXPECT_GE(sharper * 8, asked);
  EXPECT_GE(sharper_by_chains * 8, asked);
  EXPECT_GT(sharper_factors, 0);
}

/// One constraint of each kind that bounds know, on components, tensors and variables by chance.
Constraints draw_constraint_of_each_kind(const BoundProblem& problem, std::mt19937_64* random) {
  const auto one_of = [&](std::size_t n) { return (*random)() % n; };
  Constraints constraints;
  const std::vector<ComponentId> memories = testing::memories_of(problem.arch);
  std::vector<ComponentId> spread;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (!problem.arch.components[c].spatial.empty()) spread.emplace_back(c);
  StorageConstraint& storage = constraints.storage.emplace_back();
  storage.memory = memories[one_of(memories.size())];
  const TensorId tensor(one_of(problem.workload.tensors.size()));
  (one_of(2) == 0 ? storage.keep : storage.forbid) = {tensor};
  if (!spread.empty()) {
    SpatialConstraint& spatial = constraints.spatial.emplace_back();
    spatial.component = spread[one_of(spread.size())];
    spatial.dimension =
        static_cast<std::uint32_t>(one_of(problem.arch[spatial.component].spatial.size()));
    for (std::size_t v = 0; v < problem.workload.rank_variables.size(); ++v)
      if (one_of(3) == 0) spatial.variables.emplace_back(v);
  }
  TileConstraint& tile = constraints.tiles.emplace_back();
  tile.memory = memories[one_of(memories.size())];
  tile.variable = RankVariableId(one_of(problem.workload.rank_variables.size()));
  tile.maximum = 1;
  return constraints;
}

TEST(RelaxedBound, KnowsConstraintsAndOddFanouts) {
  const Mapper& fused = *standard_mappers().find("fused");
  const testing::RandomCases cases = testing::random_cases(25);
  std::int64_t asked = 0, sharper = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kDrawnSizes, oracle::kAllExtras);
    std::mt19937_64 random(seed);
    MapperOptions options = drawn.options;
    const BoundProblem problem = testing::with_odd_fanouts(drawn.problem, &random);
    if (random() % 2 == 0) options.constraints = draw_constraint_of_each_kind(problem, &random);
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      options.objectives = {objective};
      if (!takes_relaxed_bound(fused, problem, options)) continue;
      const auto best = fused.map(problem, options, {});
      if (!best || best->guarantee.kind != GuaranteeKind::kOptimal) continue;
      SCOPED_TRACE("seed " + std::to_string(seed));
      ++asked;
      const double optimum = objective_value(objective, best->mappings.front().cost);
      const double own = objective_bound(objective, space_bounds(fused, problem, options));
      const std::string what = oracle::to_yaml(drawn.spec) + to_yaml(problem.arch) +
                               to_yaml(options.constraints, problem.workload, problem.arch);
      EXPECT_LE(own, optimum * kOtherOrder) << what;
      for (const double limit : {kUnbeaten, 2 * optimum, 1.01 * optimum})
        EXPECT_LE(relaxed_bound(problem, options, limit, nullptr, {}), optimum * kOtherOrder)
            << limit << "\n"
            << what;
      MapperOptions free = options;
      free.constraints = {};
      sharper += own > objective_bound(objective, space_bounds(fused, problem, free));
    }
  }
  EXPECT_GT(asked, cases.count / 4);
  EXPECT_GT(sharper, 0);
}

}  // namespace
}  // namespace sluice
