// What is claimed of several orders of the Einsums, whatever happens in one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// X and Y may run in either order. Both read A, which the bound counts once.
constexpr const char* kTwoOrders = R"(workload:
  rank_sizes: {M: 4, N: 4}
  bits_per_value: {All: 8}
  einsums: ["X[m] = A[m,n]", "Y[m] = A[m,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All},
             actions: [{name: read, energy: 4, throughput: 4}, {name: write, energy: 4, throughput: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)";

BoundProblem problem_of(const std::string& text) {
  const auto specs = load_specs_from_text({{"specs.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error().front()));
  return *bind(*specs->workload, *specs->arch);
}

BoundProblem two_orders() { return problem_of(kTwoOrders); }

/// Does what `fused` does, but for one of its runs, which ends as it is told.
class Scripted final : public Mapper {
 public:
  enum class Event { kCancelled, kGap, kUnprovenNo, kInterruptedAfter };
  Scripted(int run, Event event, std::atomic<bool>* cancel = nullptr)
      : run_(run), event_(event), cancel_(cancel) {}
  std::string name() const override { return "scripted"; }
  std::string description() const override { return "ends as it is told"; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override {
    known_.push_back(control.known_objective);
    evaluations_.push_back(options.budget_evaluations);
    MapperOptions own = options;
    own.budget_evaluations.reset();
    auto found = standard_mappers().find("fused")->map(problem, own, MapperControl{});
    if (found) found->search.mappings_evaluated = options.budget_evaluations.value_or(0);
    if (static_cast<int>(known_.size()) != run_) return found;
    switch (event_) {
      case Event::kCancelled:
        found->cancelled = true;
        found->guarantee.kind = GuaranteeKind::kNone;
        break;
      case Event::kGap:
        found->guarantee.kind = GuaranteeKind::kGap;
        found->guarantee.bound = 7;
        break;
      case Event::kUnprovenNo: {
        NoMapping no;
        no.proven = false;
        return tl::make_unexpected(no);
      }
      case Event::kInterruptedAfter:
        *cancel_ = true;
        break;
    }
    return found;
  }
  const std::vector<std::optional<double>>& known() const { return known_; }
  const std::vector<std::optional<double>>& evaluations() const { return evaluations_; }

 private:
  int run_;
  Event event_;
  std::atomic<bool>* cancel_;
  mutable std::vector<std::optional<double>> known_, evaluations_;
};

MapperOptions exploring() {
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  options.explore_einsum_orders = true;
  return options;
}

TEST(OrderSearch, SaysHowManyOrdersItWentThroughWhenItIsInterruptedBetweenThem) {
  std::atomic<bool> cancel = false;
  MapperControl control;
  control.cancel = &cancel;
  const Scripted mapper(1, Scripted::Event::kInterruptedAfter, &cancel);
  const auto found = run_mapper(mapper, two_orders(), exploring(), control);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->cancelled);
  ASSERT_EQ(found->mappings.size(), 1u);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);  // a bound that holds in any order
  EXPECT_LE(found->guarantee.bound, found->mappings.front().cost.energy_j);
  EXPECT_EQ(found->guarantee.orders_explored, 1);
  EXPECT_EQ(found->guarantee.orders_wanted, 2);
  EXPECT_THAT(found->guarantee.space, HasSubstr("1 of 2 orders of the Einsums"));
}

TEST(OrderSearch, CountsNoOrderThatWasInterruptedItself) {
  const auto found =
      run_mapper(Scripted(2, Scripted::Event::kCancelled), two_orders(), exploring(), {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->cancelled);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(found->guarantee.orders_explored, 1);
}

TEST(OrderSearch, KeepsTheBoundWhereOneOrderHasNoProof) {
  const auto found = run_mapper(Scripted(2, Scripted::Event::kGap), two_orders(), exploring(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(found->guarantee.bound, 7);  // the other order proves its optimum, which is larger
  EXPECT_EQ(found->guarantee.orders_explored, 2);
}

TEST(OrderSearch, ProvesNothingWhereOneOrderMayHaveMissedWhatIsLegal) {
  const auto found =
      run_mapper(Scripted(1, Scripted::Event::kUnprovenNo), two_orders(), exploring(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kNone);
}

/// A producer, and so many readers of it, which may run in any order.
std::string readers(int n) {
  std::string text =
      "workload:\n  rank_sizes: {M: 24, N: 24, K: 24}\n"
      "  bits_per_value: {All: 8}\n  einsums:\n  - \"T[m,n] = A[m,k] * B[k,n]\"\n";
  for (int i = 0; i < n; ++i)
    text += "  - \"X" + std::to_string(i) + "[m,k] = T[m,n] * C" + std::to_string(i) + "[n,k]\"\n";
  return text + R"(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 8 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: 256 B, tensors: {may_keep: All}, actions: [{name: read, energy: 1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 1 pJ/bit, throughput: 16 GB/s}]}
  - !Container {name: PE, spatial: [{name: X, fanout: 6}]}
  - !Memory {name: Local, size: 16 B, tensors: {may_keep: All}, actions: [{name: read, energy: 0.1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 0.1 pJ/bit, throughput: 16 GB/s}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1 pJ, throughput: 1 GHz}]}
)";
}

// Chains prove the one order at once; a search of orders alone would use all of its budget.
TEST(OrderSearch, OneOrderIsSearchedAsItIsWritten) {
  const BoundProblem problem = problem_of(readers(0));
  MapperOptions options;
  const auto as_written = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  options.explore_einsum_orders = true;
  const auto explored = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  ASSERT_TRUE(as_written && explored);
  EXPECT_EQ(explored->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(explored->guarantee.orders_wanted, 1);
  EXPECT_EQ(explored->search.mappings_evaluated, as_written->search.mappings_evaluated);
  EXPECT_EQ(explored->mappings.front().cost.edp_js(), as_written->mappings.front().cost.edp_js());
}

// Walks of the order written have a mapping where the first order's search has none yet.
TEST(OrderSearch, HasAMappingSoonWhereThereAreManyOrders) {
  MapperOptions options;
  options.explore_einsum_orders = true;
  options.budget_seconds = 0.5;
  const auto found =
      run_mapper(*standard_mappers().find("fused"), problem_of(readers(8)), options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(found->mappings.size(), 1u);
}

// The bound that is told is near enough long before anything is proven.
TEST(RunMapper, EndsWhereABudgetedSearchIsWithinEpsilon) {
  MapperOptions options;
  options.epsilon = 1e3;
  options.budget_seconds = 60;
  const auto found =
      run_mapper(*standard_mappers().find("fused"), problem_of(readers(8)), options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kWithinEpsilon);
  EXPECT_EQ(found->guarantee.epsilon, 1e3);
  EXPECT_TRUE(found->search.ended_by.empty());
  EXPECT_FALSE(found->cancelled);
}

TEST(OrderSearch, SharesABudgetOfEvaluationsAmongTheOrders) {
  MapperOptions options = exploring();
  options.budget_evaluations = 101;  // 50 of 101 for the first of two orders, 51 are left
  const Scripted mapper(0, Scripted::Event::kCancelled);
  ASSERT_TRUE(run_mapper(mapper, two_orders(), options, {}));
  EXPECT_EQ(mapper.evaluations(), (std::vector<std::optional<double>>{50, 51}));
}

TEST(OrderSearch, TellsLaterOrdersWhatIsKnownOfEarlierOnes) {
  const Scripted mapper(0, Scripted::Event::kCancelled);
  const auto found = run_mapper(mapper, two_orders(), exploring(), {});
  ASSERT_TRUE(found);
  ASSERT_EQ(mapper.known().size(), 2u);
  EXPECT_FALSE(mapper.known()[0]);
  EXPECT_EQ(mapper.known()[1], found->mappings.front().cost.energy_j);
}

// The two Einsums cost the same in either order, so the second order beats nothing.
TEST(OrderSearch, ProvesTheOptimumOfAllOrders) {
  const auto found = run_mapper(*standard_mappers().find("fused"), two_orders(), exploring(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(found->guarantee.orders_explored, 2);
  EXPECT_THAT(found->guarantee.space, HasSubstr("all 2 orders of the Einsums"));
}

TEST(OrderSearch, StartsAfreshWhereNoOrderBeatsWhatWasKnownBefore) {
  MapperControl control;
  control.known_objective = 1e-9;  // of some other space
  const auto found =
      run_mapper(*standard_mappers().find("fused"), two_orders(), exploring(), control);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
}

TEST(OrderSearch, ListsTheBestOfAllOrders) {
  MapperOptions options = exploring();
  options.top = 2;
  const auto found = run_mapper(*standard_mappers().find("fused"), two_orders(), options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mappings.size(), 2u);  // the best of each order
}

}  // namespace
}  // namespace sluice
