// A search that proves has an answer long before its proof: walks run beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "mapper/space/template_lists.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/mapper/selection.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/machine_memory.h"

namespace sluice {
namespace {

/// On an accelerator with three memories, each of which keeps everything.
BoundProblem problem_of(const std::string& workload) {
  const auto specs = load_specs_from_text({{"problem.yaml", workload + R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 100, throughput: 8}, {name: write, energy: 100, throughput: 8}]}
  - !Memory {name: Shared, size: 524288, tensors: {keep: All}, actions: [{name: read, energy: 6, throughput: 64}, {name: write, energy: 6, throughput: 64}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 8}, {name: y, fanout: 8}]}
  - !Memory {name: RF, size: 2048, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  EXPECT_TRUE(specs.has_value());
  return *bind(*specs->workload, *specs->arch);
}

BoundProblem two_convolutions() {
  return problem_of(R"yaml(workload:
  rank_sizes: {P: 28, Q: 28, C: 32, K: 64, M: 32, R: 3, S: 3}
  bits_per_value: {All: 8}
  einsums:
  - "Y[k,p,q] = A[c,H:p+r,W:q+s] * F[k,c,r,s]"
  - "Z[m,p,q] = Y[k,p,q] * G[m,k]"
)yaml");
}

BoundProblem one_convolution() {
  return problem_of(R"yaml(workload:
  rank_sizes: {P: 7, Q: 7, C: 8, K: 8, R: 3, S: 3}
  bits_per_value: {All: 8}
  einsums: ["Y[k,p,q] = A[c,H:p+r,W:q+s] * F[k,c,r,s]"]
)yaml");
}

const Mapper& fused() { return *standard_mappers().find("fused"); }

void expect_gap(const BoundProblem& problem, const MapperResult& found,
                LatencyPolicy policy = LatencyPolicy::kOverlap) {
  ASSERT_EQ(found.mappings.size(), 1u);
  const MappedResult& best = found.mappings.front();
  const auto cost = evaluate(problem, best.mapping, policy);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(*cost, best.cost);
  EXPECT_EQ(found.guarantee.kind, GuaranteeKind::kGap);
  EXPECT_GT(found.guarantee.bound, 0);
  EXPECT_LE(found.guarantee.bound, best.cost.edp_js());
}

TEST(Anytime, ABudgetLeavesTheBestOfTheWalksAndAGap) {
  const BoundProblem problem = two_convolutions();
  for (const double seconds : {1e-6, 0.2, 0.5}) {
    MapperOptions options;
    options.budget_seconds = seconds;
    const auto found = run_mapper(fused(), problem, options, {});
    ASSERT_TRUE(found.has_value()) << found.error().reason;
    EXPECT_FALSE(found->cancelled);
    EXPECT_EQ(found->search.ended_by, "budget");
    expect_gap(problem, *found);
  }
}

TEST(Anytime, AnInterruptedSearchHandsOverTheIncumbent) {
  const BoundProblem problem = two_convolutions();
  std::atomic<bool> cancel = false;
  double last = std::numeric_limits<double>::infinity();
  Incumbent incumbent([&](double objective, const MappedResult& mapped) {
    EXPECT_EQ(objective, objective_value(Objective::kEdp, mapped.cost));
    EXPECT_LT(objective, last);
    last = objective;
    cancel = true;
  });
  MapperControl control;
  control.cancel = &cancel;
  control.incumbent = &incumbent;
  const auto found = run_mapper(fused(), problem, {}, control);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->cancelled);
  expect_gap(problem, *found);
  EXPECT_EQ(found->mappings.front().cost.edp_js(), last);
}

TEST(Anytime, WalksThatKeepToABudgetSayHowFarTheyAreFromABound) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.budget_seconds = 1;
  const auto found = run_mapper(*standard_mappers().find("anneal"), problem, options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  expect_gap(problem, *found);
}

TEST(Anytime, ASearchForTheLeastLatencyEndsAtTheBound) {
  MapperOptions options;
  options.objectives = {Objective::kLatency};
  options.budget_seconds = 600;
  const auto found = run_mapper(*standard_mappers().find("anneal"), one_convolution(), options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(found->search.ended_by, "");
}

TEST(Anytime, WalksThatTakeOverAreEndedByTheBudget) {
  MapperOptions options;
  options.budget_seconds = 0.5;
  const auto found =
      run_mapper(*standard_mappers().find("compound"), two_convolutions(), options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_EQ(found->search.ended_by, "budget");
}

TEST(Anytime, ExhaustiveHasAMappingWhileItLists) {
  MapperOptions options;
  options.budget_seconds = 0.3;
  const auto found =
      run_mapper(*standard_mappers().find("exhaustive"), two_convolutions(), options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_EQ(found->search.ended_by, "budget");
}

TEST(Anytime, ALimitOfMemoryEndsTheSearchWithTheBestSoFar) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.memory_bytes = resident_bytes();  // there is no room for more
  const auto found = run_mapper(fused(), problem, options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_FALSE(found->cancelled);
  EXPECT_EQ(found->search.ended_by, "memory");
  expect_gap(problem, *found);
}

TEST(Anytime, ABudgetForAFrontLeavesAMapping) {
  MapperOptions options;
  options.objectives = {Objective::kEnergy, Objective::kLatency};
  options.budget_seconds = 0.1;
  const auto found = run_mapper(fused(), two_convolutions(), options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_FALSE(found->mappings.empty());
}

// A bound holds whatever a search had done when its time was over.
TEST(Anytime, ABoundIsNeverAboveTheOptimum) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  options.budget_seconds = 2;
  const auto best = run_mapper(*standard_mappers().find("anneal"), problem, options, {});
  ASSERT_TRUE(best.has_value());
  for (const double budget : {0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4}) {
    options.budget_seconds = budget;
    const auto found = run_mapper(fused(), problem, options, {});
    if (!found) continue;
    EXPECT_LE(found->guarantee.bound, best->mappings.front().cost.energy_j) << budget;
  }
}

// Templates that wait for their turn have bounds of their own.
TEST(Anytime, TheBoundOfOneEinsumRisesToTheOptimum) {
  const BoundProblem problem = one_convolution();
  MapperOptions options;
  options.threads = 2;
  options.pruning.chains = false;  // which prove it first
  std::vector<double> told;
  MapperControl control;
  control.bound = [&told](double bound) { told.push_back(bound); };
  const auto best = run_mapper(fused(), problem, options, control);
  ASSERT_TRUE(best.has_value());
  ASSERT_EQ(best->guarantee.kind, GuaranteeKind::kOptimal);
  const double optimum = best->mappings.front().cost.edp_js(), time = best->search.seconds;
  EXPECT_GE(told.size(), 2U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_LE(told.back(), optimum * (1 + 1e-9));
  for (const double share : {0.1, 0.4, 0.6, 0.8, 0.9}) {
    options.budget_seconds = share * time;
    const auto found = run_mapper(fused(), problem, options, {});
    ASSERT_TRUE(found.has_value() || share < 0.5) << share;
    if (!found) continue;
    EXPECT_GE(found->mappings.front().cost.edp_js(), optimum) << share;
    if (found->guarantee.kind == GuaranteeKind::kGap)
      EXPECT_LE(found->guarantee.bound, optimum) << share;
    else
      EXPECT_EQ(found->mappings.front().cost.edp_js(), optimum) << share;
  }
}

TEST(Anytime, OfTooManyTemplatesSomeAreDrawn) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.max_templates = 100;
  options.budget_seconds = 1;
  const auto found = run_mapper(fused(), problem, options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_EQ(found->search.ended_by, "budget");
  expect_gap(problem, *found);
}

/// Six Einsums, more than are drawn for.
BoundProblem six_convolutions() {
  return problem_of(R"yaml(workload:
  rank_sizes: {P: 28, Q: 28, C: 32, K: 64, M: 32, R: 3, S: 3}
  bits_per_value: {All: 8}
  einsums:
  - "Y[k,p,q] = A[c,H:p+r,W:q+s] * F[k,c,r,s]"
  - "Z[m,p,q] = Y[k,p,q] * G[m,k]"
  - "D[k,p,q] = Z[m,p,q] * J[k,m]"
  - "V[m,p,q] = D[k,p,q] * I[m,k]"
  - "U[k,p,q] = V[m,p,q] * L[k,m]"
  - "X[m,p,q] = U[k,p,q] * N[m,k]"
)yaml");
}

TEST(Anytime, WalksTakeOverWhereTemplatesAreMoreThanTheBudgetAllows) {
  const BoundProblem problem = six_convolutions();
  for (const int threads : {1, 2}) {
    MapperOptions options;
    options.threads = threads;
    options.budget_seconds = 0.3;  // time for 3,000 of them
    bool is_explored = false;
    MapperControl control;
    control.progress = [&](const std::string& phase, double) {
      is_explored = is_explored || phase == "exploring tile shapes";
    };
    const auto found = run_mapper(fused(), problem, options, control);
    ASSERT_TRUE(found.has_value()) << found.error().reason;
    EXPECT_FALSE(is_explored);
    EXPECT_FALSE(found->cancelled);
    EXPECT_EQ(found->search.ended_by, "budget");
    EXPECT_GT(found->search.mappings_evaluated, 0);
    expect_gap(problem, *found);
  }
}

TEST(Anytime, WalksThatTookOverAreInterrupted) {
  const BoundProblem problem = six_convolutions();
  std::atomic<bool> cancel = false;
  Incumbent incumbent([&](double, const MappedResult&) { cancel = true; });
  MapperControl control;
  control.cancel = &cancel;
  control.incumbent = &incumbent;
  MapperOptions options;
  options.budget_seconds = 0.3;
  const auto found = run_mapper(fused(), problem, options, control);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->mappings.empty());
}

// Nobody else would finish what it leaves.
TEST(Anytime, ASearchByItselfLeavesNothingToWalks) {
  MapperOptions options;
  options.budget_seconds = 1e-3;  // time for 10 templates
  const auto found = fused().map(problem_of(R"yaml(workload:
  rank_sizes: {M: 4, K: 4}
  bits_per_value: {All: 8}
  einsums: ["B[m] = A[m]", "C[m] = B[m]", "D[m] = C[m]", "E[m] = D[m]", "F[m] = E[m]"]
)yaml"),
                                 options, {});
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kOptimal);
}

TEST(Anytime, TemplatesOfNoFurtherEinsumsAreListedBeyondALimit) {
  const BoundProblem problem = six_convolutions();
  std::vector<fused::EinsumShape> shapes;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e)
    shapes.push_back(fused::make_einsum_shape(problem, EinsumId(e)));
  const auto listed = [&](std::size_t cap) {
    return fused::TemplateLists(problem, shapes, {}, {.cap_of_all = cap}).lists();
  };
  const auto all = listed(fused::TemplateLimits{}.cap);
  ASSERT_GT(all.size(), 2u);
  const std::size_t first = all[0].size();
  const auto some = listed(first + 5);
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0], all[0]);
  EXPECT_GE(some[1].size(), 5u);
  EXPECT_LT(some[1].size(), all[1].size());
}

/// Finds nothing and proves nothing, at once.
class Helpless final : public Mapper {
 public:
  std::string name() const override { return "helpless"; }
  std::string description() const override { return "finds nothing"; }
  bool wants_walks() const override { return true; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                            const MapperControl&) const override {
    NoMapping no;
    no.proven = false;
    return tl::make_unexpected(no);
  }
};

TEST(Anytime, WalksHaveAllOfTheBudgetWhereTheSearchHasNothing) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.budget_seconds = 0.6;
  const auto found = run_mapper(Helpless(), problem, options, {});
  ASSERT_TRUE(found);
  expect_gap(problem, *found);
  EXPECT_EQ(found->search.ended_by, "budget");
  EXPECT_GE(found->search.seconds, 0.55);
}

// A search that ends soon by itself without a proof leaves the rest of a budget to walks.
TEST(Anytime, UsesItsBudgetWhereNothingIsProven) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.policy = LatencyPolicy::kStaged;
  options.budget_seconds = 0.5;
  options.threads = 1;
  const auto found = run_mapper(*standard_mappers().find("compound"), problem, options, {});
  ASSERT_TRUE(found);
  expect_gap(problem, *found, options.policy);
  EXPECT_GE(found->search.seconds, *options.budget_seconds);
}

TEST(Anytime, GroupsOfEinsumsTellWhatTheyHaveBeforeTheEnd) {
  const BoundProblem problem = two_convolutions();
  MapperOptions options;
  options.threads = 2;
  std::vector<double> offered;
  Incumbent incumbent([&](double objective, const MappedResult& mapped) {
    const auto cost = evaluate(problem, mapped.mapping, options.policy);
    ASSERT_TRUE(cost);
    EXPECT_EQ(*cost, mapped.cost);
    EXPECT_EQ(objective, mapped.cost.edp_js());
    offered.push_back(objective);
  });
  std::size_t n_after_first_look = 0;
  MapperControl control;
  control.incumbent = &incumbent;
  control.progress = [&](const std::string& phase, double fraction) {
    if (phase == "groups of Einsums" && fraction == 1 && n_after_first_look == 0)
      n_after_first_look = offered.size();
  };
  const auto found = standard_mappers().find("compound")->map(problem, options, control);
  ASSERT_TRUE(found);
  EXPECT_GT(n_after_first_look, 0);
  EXPECT_GT(offered.size(), n_after_first_look);
  EXPECT_EQ(offered.back(), found->mappings.front().cost.edp_js());
}

TEST(Anytime, FindsAMapperForEveryLatencyPolicy) {
  const BoundProblem problem = one_convolution();
  for (const auto& method : standard_latency_policies()) {
    const LatencyPolicy policy(*method);
    MapperOptions options;
    options.policy = policy;
    const Mapper& mapper = *default_mapper(problem, options, standard_mappers()).mapper;
    EXPECT_FALSE(refused_request(mapper, problem, options, standard_mappers())) << policy.name();
  }
}

}  // namespace
}  // namespace sluice
