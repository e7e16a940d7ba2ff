#include "sluice/mapper/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

BoundProblem problem_with(const Component& component) {
  BoundProblem problem;
  problem.arch.components = {component};
  return problem;
}

Component mesh(double hop_energy_j) {
  Component component;
  component.name = "Mesh";
  Network network;
  network.hop_energy_j = hop_energy_j;
  network.link_bandwidth = kUnbounded;
  component.kind = network;
  return component;
}

std::optional<NoMapping> refused(const char* mapper, const BoundProblem& problem,
                                 LatencyPolicy policy = LatencyPolicy::kOverlap) {
  MapperOptions options;
  options.policy = policy;
  return refused_request(*standard_mappers().find(mapper), problem, options);
}

Component packed(double hop_energy_j) {
  Component component = mesh(hop_energy_j);
  std::get<Network>(component.kind).layout = NodeLayout::kPacked;
  return component;
}

TEST(Selection, FusedKnowsNetworksButPackedOnesThatCost) {
  EXPECT_FALSE(refused("fused", problem_with(mesh(1e-12))));
  EXPECT_FALSE(refused("fused", problem_with(packed(0))));
  const auto no = refused("fused", problem_with(packed(1e-12)));
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason,
            "the mapper fused does not know packed networks that cost energy or time: Mesh");
  EXPECT_THAT(no->nearest_relaxation, HasSubstr("exhaustive, random"));
  EXPECT_FALSE(no->proven);
  EXPECT_FALSE(refused("random", problem_with(packed(1e-12))));
}

TEST(Selection, FusedKnowsNoRepeatedValuesNorUnevenTilesOnNetworks) {
  Component component = mesh(1e-12);
  std::get<Network>(component.kind).repeated_values = RepeatedValues::kFree;
  const auto no = refused("fused", problem_with(component));
  ASSERT_TRUE(no);
  EXPECT_THAT(no->reason, HasSubstr("networks on which repeated values are free: Mesh"));
  MapperOptions uneven;
  uneven.imperfect_factors = ImperfectFactors::kAll;
  const Mapper& fused = *standard_mappers().find("fused");
  EXPECT_TRUE(refused_request(fused, problem_with(mesh(1e-12)), uneven));
  EXPECT_FALSE(refused_request(fused, problem_with(mesh(0)), uneven));
}

TEST(Selection, FusedKnowsTotalLatenciesThatAreLargestSumsAlone) {
  Component component;
  component.kind = Memory();
  component.name = "DRAM";
  component.total_latency = Expression::parse("5e-9").value();
  BoundProblem problem = problem_with(component);
  BoundComponent& bound = problem.einsums.emplace_back().components.emplace_back();
  const auto no = refused("fused", problem);
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason,
            "the mapper fused does not know a total_latency other than the largest of sums of "
            "calls: DRAM");
  bound.latency_rows.emplace();
  EXPECT_FALSE(refused("fused", problem));
}

TEST(Selection, FusedKnowsRoutersThatTakeTimeButNotWithWindowsOrTolls) {
  Component component = mesh(0);
  Network& network = std::get<Network>(component.kind);
  network.router_latency_s = 1e-9;
  BoundProblem problem = problem_with(component);
  EXPECT_FALSE(refused("fused", problem));
  problem.einsums.emplace_back().relevance = {{Relevance::kRelevant, Relevance::kPartial}};
  const auto windows = refused("fused", problem);
  ASSERT_TRUE(windows);
  EXPECT_THAT(windows->reason, HasSubstr("where loops move windows or step"));
  problem.einsums.front().relevance.clear();
  problem.einsums.front().held.emplace_back().index.emplace_back().slack = 1;
  EXPECT_TRUE(refused("fused", problem));
  problem.einsums.clear();
  problem.arch.components.emplace_back().kind = Toll{};
  const auto tolls = refused("fused", problem);
  ASSERT_TRUE(tolls);
  EXPECT_THAT(tolls->reason, HasSubstr("routers take time, with tolls: Mesh"));
  MapperOptions tiled;
  tiled.constraints.tiles.emplace_back();
  EXPECT_TRUE(refused_request(*standard_mappers().find("fused"), problem_with(component), tiled));
  network.implicit_time = ImplicitTime::kNone;
  EXPECT_FALSE(refused("fused", problem_with(component)));
}

TEST(Selection, FusedKnowsArraysButNotWithTollsOrUnevenTiles) {
  Component array;
  array.name = "Array";
  Container container;
  container.array.emplace();
  array.kind = container;
  BoundProblem problem = problem_with(array);
  EXPECT_FALSE(refused("fused", problem));
  MapperOptions uneven;
  uneven.imperfect_factors = ImperfectFactors::kUnfused;
  EXPECT_TRUE(refused_request(*standard_mappers().find("fused"), problem, uneven));
  problem.arch.components.emplace_back().kind = Toll{};
  const auto tolls = refused("fused", problem);
  ASSERT_TRUE(tolls);
  EXPECT_THAT(tolls->reason, HasSubstr("fill and drain, with tolls: Array"));
  EXPECT_FALSE(refused("exhaustive", problem));
}

TEST(Selection, FusedKnowsThePolicyOverlapOnly) {
  EXPECT_FALSE(refused("fused", {}));
  for (const LatencyPolicy policy : {LatencyPolicy::kPipeline, LatencyPolicy::kStaged}) {
    EXPECT_TRUE(refused("fused", {}, policy));
    EXPECT_FALSE(refused("anneal", {}, policy));
  }
}

TEST(Selection, RefusesConstraintsThatTheSpaceOfAMapperDoesNotHave) {
  BoundProblem problem;
  problem.workload.tensors.resize(1);
  problem.workload.tensors[0].name = "T";
  MapperOptions options;
  options.constraints.collectives.push_back({"gathered", TensorId(0), {}, {}, {}});
  const auto no = refused_request(*standard_mappers().find("iterative"), problem, options);
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason,
            "the constraint gathered is about a collective on T; the mapper iterative makes no "
            "collectives");
  EXPECT_THAT(no->nearest_relaxation, HasSubstr("leave out gathered"));
}

TEST(Selection, TakesFusedWhereItCan) {
  const MapperChoice choice = default_mapper({}, {});
  EXPECT_EQ(choice.mapper->name(), "fused");
  EXPECT_EQ(choice.reason, "");
}

TEST(Selection, TakesCompoundWhereFusedCannotPrice) {
  const MapperChoice choice = default_mapper(problem_with(packed(1e-12)), {});
  EXPECT_EQ(choice.mapper->name(), "compound");
  EXPECT_THAT(choice.reason, HasSubstr("networks that cost energy or time: Mesh"));
}

TEST(ObjectiveBound, IsTheFloorOfEnergyTheRooflineOfLatencyAndTheirProduct) {
  const CostBounds bounds{2, 3, 5};
  EXPECT_EQ(objective_bound(Objective::kEnergy, bounds), 5);
  EXPECT_EQ(objective_bound(Objective::kLatency, bounds), 3);
  EXPECT_EQ(objective_bound(Objective::kEdp, bounds), 15);
}

// 8 is divided by 1, 2, 4 and 8: no tile has 5 to 7 values, one has 4 to 7.
TEST(Selection, RefusesTilesThatNoPerfectFactorGives) {
  BoundProblem problem;
  problem.workload.rank_variables = {{"m"}};
  Einsum einsum;
  einsum.name = "Z";
  einsum.iteration_space = {{RankVariableId(0), 0, 8}};
  problem.workload.einsums = {einsum};
  TileConstraint tile;
  tile.name = "small tiles";
  tile.minimum = 5;
  tile.maximum = 7;
  MapperOptions options;
  options.constraints.tiles = {tile};
  const auto no = refused_request(*standard_mappers().find("random"), problem, options);
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason,
            "the constraint small tiles asks for tiles of m from 5 to 7, and none of these divides "
            "its range in the Einsum Z, 8");
  EXPECT_THAT(no->nearest_relaxation, HasSubstr("ask for 4 or 8, or for imperfect_factors"));
  options.constraints.tiles[0].minimum = 4;
  EXPECT_FALSE(refused_request(*standard_mappers().find("random"), problem, options));
}

}  // namespace
}  // namespace sluice
