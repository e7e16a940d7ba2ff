// Where templates are too many to try, what is drawn depends on the seed alone.
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

/// Two products that do not need each other: two orders.
BoundProblem problem(const char* einsums) {
  const auto specs = load_specs_from_text({{"specs.yaml", R"yaml(workload:
  rank_sizes: {M: 16, K: 16, N: 16}
  bits_per_value: {All: 8}
  einsums: )yaml" + std::string(einsums) + R"yaml(
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: 1024, tensors: {may_keep: All}, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Memory {name: Near, size: 256, tensors: {may_keep: All}, actions: [{name: read, energy: 2, throughput: 16}, {name: write, energy: 1, throughput: 16}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  EXPECT_TRUE(specs.has_value()) << to_string(specs.error());
  return *bind(*specs->workload, *specs->arch);
}

constexpr const char* kOne = "[\"Z[m,n] = A[m,k] * W[k,n]\"]";
constexpr const char* kTwo = "[\"Y[m,n] = A[m,k] * V[k,n]\", \"Z[m,n] = A[m,k] * W[k,n]\"]";

TEST(Draws, AreTheSameWhateverOthersFindMeanwhile) {
  const BoundProblem one = problem(kOne);
  const Mapper& fused = *standard_mappers().find("fused");
  const auto optimum = fused.map(one, {}, {});
  ASSERT_TRUE(optimum);
  MapperOptions options;
  options.max_templates = 1;
  const auto mapped = [&](Incumbent& incumbent) {
    MapperControl control;
    control.incumbent = &incumbent;
    return fused.map(one, options, control);
  };
  Incumbent own, of_walks;
  of_walks.offer(objective_value(Objective::kEdp, optimum->mappings.front().cost),
                 optimum->mappings.front());
  const auto alone = mapped(own), beside = mapped(of_walks);
  ASSERT_TRUE(alone);
  ASSERT_TRUE(beside);
  EXPECT_EQ(alone->search.ended_by, "templates");
  EXPECT_GT(alone->search.mappings_evaluated, 0);
  EXPECT_EQ(alone->search.mappings_evaluated, beside->search.mappings_evaluated);
}

TEST(Draws, HaveAGapInAllOrdersOfTheEinsums) {
  MapperOptions options;
  options.max_templates = 1;
  options.explore_einsum_orders = true;
  const auto found = run_mapper(*standard_mappers().find("fused"), problem(kTwo), options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->search.ended_by, "templates");
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_GT(found->guarantee.bound, 0);
  EXPECT_EQ(found->guarantee.orders_wanted, 2);
}

/// Whoever listens gets mappings of the problem, whichever order found them.
TEST(Draws, OfferMappingsInTermsOfTheProblemInAllOrders) {
  const BoundProblem two = problem(kTwo);
  std::size_t n_offered = 0;
  Incumbent incumbent([&](double objective, const MappedResult& mapped) {
    const auto cost = evaluate(two, mapped.mapping);
    ASSERT_TRUE(cost);
    EXPECT_DOUBLE_EQ(objective_value(Objective::kEdp, *cost), objective);
    ++n_offered;
  });
  MapperOptions options;
  options.explore_einsum_orders = true;
  MapperControl control;
  control.incumbent = &incumbent;
  ASSERT_TRUE(run_mapper(*standard_mappers().find("fused"), two, options, control));
  EXPECT_GT(n_offered, 0U);
}

}  // namespace
}  // namespace sluice
