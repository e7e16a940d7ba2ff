#include "sluice/mapper/run_mapper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mapper/request/einsum_orders.h"
#include "sluice/mapper/incumbent.h"

namespace sluice {
namespace {

/// A mapper that searches until it is told to stop, then says whether it had found something.
class Endless final : public Mapper {
 public:
  explicit Endless(bool finds, GuaranteeKind kind = GuaranteeKind::kOptimal)
      : finds_(finds), kind_(kind) {}
  std::string name() const override { return "endless"; }
  std::string description() const override { return "never ends by itself"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                            const MapperControl& control) const override {
    while (!control.cancel->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MapperResult result;
    result.cancelled = true;
    result.guarantee.kind = kind_;
    if (!finds_) return result;
    Cost& cost = result.mappings.emplace_back().cost;
    cost.energy_j = cost.latency_s = 1;
    return result;
  }

 private:
  bool finds_;
  GuaranteeKind kind_;
};

MapperOptions budget_of(double seconds) {
  MapperOptions options;
  options.budget_seconds = seconds;
  return options;
}

TEST(RunMapper, StopsWhenTheBudgetIsOverAndDropsTheGuarantee) {
  const auto result = run_mapper(Endless(true), {}, budget_of(0.05), {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->cancelled);
  EXPECT_EQ(result->guarantee.kind, GuaranteeKind::kNone);
}

TEST(RunMapper, KeepsABoundWhenTheBudgetIsOver) {
  const auto result = run_mapper(Endless(true, GuaranteeKind::kGap), {}, budget_of(0.05), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->guarantee.kind, GuaranteeKind::kGap);
}

/// Tells a bound, and forgets it where it is stopped.
class Forgetful final : public Mapper {
 public:
  std::string name() const override { return "forgetful"; }
  std::string description() const override { return "tells a bound and ends without it"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                            const MapperControl& control) const override {
    for (const double bound : {3.0, 5.0, 4.0}) control.bound(bound);
    while (!control.cancel->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MapperResult result;
    result.cancelled = true;
    result.mappings.emplace_back().cost.energy_j = objective_;
    return result;
  }
  double objective_ = 6;
};

TEST(RunMapper, KeepsTheBestBoundThatWasTold) {
  MapperOptions options = budget_of(0.01);
  options.objectives = {Objective::kEnergy};
  std::vector<double> told;
  MapperControl control;
  control.bound = [&told](double bound) { told.push_back(bound); };
  Forgetful mapper;
  const auto result = run_mapper(mapper, {}, options, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(result->guarantee.bound, 5);
  EXPECT_EQ(told, (std::vector<double>{3, 5}));
  mapper.objective_ = 2;  // from another space, or the bound would not hold
  EXPECT_EQ(run_mapper(mapper, {}, options, control)->guarantee.bound, 0);
}

TEST(RunMapper, SaysSoWhenTheBudgetWasTooSmallToFindAnything) {
  const auto result = run_mapper(Endless(false), {}, budget_of(0.05), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, "the budget of 0.05 s ended before a mapping was found");
  EXPECT_FALSE(result.error().proven);
}

TEST(RunMapper, PassesOnACancellationWithinABudget) {
  const std::atomic<bool> cancel = true;
  MapperControl control;
  control.cancel = &cancel;
  const auto result = run_mapper(Endless(true), {}, budget_of(3600), control);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->cancelled);
}

/// Has a mapping, tells a bound, and searches on until it is told to stop; then it knows neither.
class AtItsBound final : public Mapper {
 public:
  AtItsBound(double objective, double bound) : objective_(objective), bound_(bound) {}
  std::string name() const override { return "at its bound"; }
  std::string description() const override { return "does not see that it is through"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                            const MapperControl& control) const override {
    MappedResult found;
    found.cost.energy_j = objective_;
    control.incumbent->offer(objective_, found);
    control.bound(bound_);
    while (!control.cancel->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return tl::make_unexpected(NoMapping{});
  }

 private:
  double objective_, bound_;
};

TEST(RunMapper, EndsWhereTheBestMappingIsAtTheBound) {
  MapperOptions options = budget_of(3600);
  options.objectives = {Objective::kEnergy};
  const auto result = run_mapper(AtItsBound(5, 5), {}, options, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(result->mappings.front().cost.energy_j, 5);
  EXPECT_FALSE(result->cancelled);
  EXPECT_EQ(result->search.ended_by, "");
}

TEST(RunMapper, GoesOnWhereAMappingOfAnotherSpaceIsBelowTheBound) {
  MapperOptions options = budget_of(0.05);
  options.objectives = {Objective::kEnergy};
  EXPECT_FALSE(run_mapper(AtItsBound(4, 5), {}, options, {}));
}

/// Knows of a mapping that others found, proves nothing, and ends on one that is worse.
class EndsOnAWorseOne final : public Mapper {
 public:
  std::string name() const override { return "worse"; }
  std::string description() const override { return "ends by itself, without a proof"; }
  bool wants_walks() const override { return true; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                            const MapperControl& control) const override {
    control.incumbent->offer(1, of_edp(1));
    MapperResult result;
    result.guarantee.kind = GuaranteeKind::kGap;
    result.mappings.push_back(of_edp(4));
    return result;
  }

 private:
  static MappedResult of_edp(double edp) {
    MappedResult mapped;
    mapped.cost.energy_j = edp;
    mapped.cost.latency_s = 1;
    return mapped;
  }
};

TEST(RunMapper, TakesWhatWalksFoundWhereASearchWithABudgetEndsByItselfWithoutAProof) {
  const auto result = run_mapper(EndsOnAWorseOne(), {}, budget_of(3600), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->mappings.front().cost.energy_j, 1);
  EXPECT_EQ(result->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_GT(result->search.seconds, 0);  // of both; the mapper itself says nothing
}

TEST(RunMapper, LeavesTheClockNoSayWhereThereIsNoBudget) {
  const auto result = run_mapper(EndsOnAWorseOne(), {}, {}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->mappings.front().cost.energy_j, 4);
}

/// Proves that constraints leave nothing; without them it searches until it is told to stop.
class NeverThroughWithoutConstraints final : public Mapper {
 public:
  std::string name() const override { return "slow"; }
  std::string description() const override { return "quick with constraints only"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override {
    if (options.constraints == Constraints{}) return Endless(false).map(problem, options, control);
    NoMapping no;
    no.reason = "the buffer is too small";
    return tl::make_unexpected(no);
  }
};

TEST(RunMapper, KeepsAProvenNoAndNamesAllConstraintsWhereBlamingDoesNotEndInTime) {
  MapperOptions options = budget_of(0.05);
  options.constraints.tiles.emplace_back().name = "small tiles";
  const auto result = run_mapper(NeverThroughWithoutConstraints(), {}, options, {});
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().proven);
  EXPECT_EQ(result.error().reason, "the buffer is too small, with the constraints small tiles");
}

TEST(RunMapper, KeepsAProvenNoWhereTheSearchForWhatIsToBlameIsInterrupted) {
  std::atomic<bool> cancel = false;
  MapperControl control;
  control.cancel = &cancel;
  MapperOptions options;
  options.constraints.tiles.emplace_back().name = "small tiles";
  std::thread interrupt([&cancel] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  const auto result = run_mapper(NeverThroughWithoutConstraints(), {}, options, control);
  interrupt.join();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().proven);
}

/// E0 writes A; E1 and E2 read it and write B and C; E3 reads both.
Workload diamond() {
  Workload workload;
  for (const char* name : {"A", "B", "C", "D"}) {
    Tensor tensor;
    tensor.name = name;
    workload.tensors.push_back(tensor);
  }
  const auto einsum = [&](std::vector<std::size_t> reads, std::size_t writes) {
    Einsum e;
    for (const std::size_t read : reads) e.accesses.push_back({TensorId(read), {}, false, 8});
    e.accesses.push_back({TensorId(writes), {}, true, 8});
    workload.einsums.push_back(e);
  };
  einsum({}, 0);
  einsum({0}, 1);
  einsum({0}, 2);
  einsum({1, 2}, 3);
  return workload;
}

/// Says of the second Einsum alone that a memory is too small for it; of more it never knows.
class KnowsOneEinsum final : public Mapper {
 public:
  std::string name() const override { return "one"; }
  std::string description() const override { return "never ends where there are several"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override {
    if (problem.workload.einsums.size() > 1) return Endless(false).map(problem, options, control);
    if (problem.workload.einsums.front().accesses.back().tensor != TensorId(1))
      return Endless(true).map(problem, options, control);
    NoMapping no;
    no.reason = "Einsum B exceeds the buffer";
    no.einsum = EinsumId(0);
    no.memory = ComponentId(0);
    return tl::make_unexpected(no);
  }
};

TEST(RunMapper, GivesTheReasonOfOneEinsumAloneWhereABudgetEndedWithoutAMapping) {
  BoundProblem problem;
  problem.workload = diamond();
  // Of the first Einsum this mapper finds something only when its time is over.
  std::swap(problem.workload.einsums[0], problem.workload.einsums[1]);
  problem.einsums.resize(problem.workload.einsums.size());
  const auto result = run_mapper(KnowsOneEinsum(), problem, budget_of(0.05), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, "Einsum B exceeds the buffer");
  EXPECT_EQ(result.error().einsum, EinsumId(0));
  EXPECT_FALSE(result.error().proven);
}

TEST(EinsumOrders, RespectDependenciesAndStartWithTheOrderWritten) {
  const auto orders = einsum_orders(diamond(), 100);
  // E1 and E2 may swap, nothing else.
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0], (std::vector{EinsumId(0), EinsumId(1), EinsumId(2), EinsumId(3)}));
  EXPECT_EQ(orders[1], (std::vector{EinsumId(0), EinsumId(2), EinsumId(1), EinsumId(3)}));
}

TEST(EinsumOrders, StopAtTheLimit) { EXPECT_EQ(einsum_orders(diamond(), 1).size(), 1u); }

}  // namespace
}  // namespace sluice
