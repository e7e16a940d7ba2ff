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

BoundProblem two_orders() {
  const auto specs = load_specs_from_text({{"specs.yaml", kTwoOrders}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error().front()));
  return *bind(*specs->workload, *specs->arch);
}

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
