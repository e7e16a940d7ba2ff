// Random problems: factors of monomials that are worked out side by side are those of each state.
#include "mapper/fused/price/class_factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "mapper/fused/states/state_tables.h"
#include "mapper/sampling/space/map_space.h"
#include "mapper/strategies/walks.h"
#include "oracle/compare.h"
#include "oracle/compound/compound_case.h"
#include "support/random_cases.h"

namespace sluice::fused {
namespace {

class FactoredProblem {
 public:
  FactoredProblem(const BoundProblem& problem, const MapperOptions& options)
      : problem_(problem), options_(options_of_walks(options)), space_(problem, options_) {}

  std::size_t n_coupled = 0, n_backings = 0, n_large = 0;

  void run() {
    constexpr std::size_t kTemplates = 8;
    for (std::size_t e = 0; e < space_.n_einsums(); ++e) {
      const std::vector<Template>& templates = space_.templates(e);
      const std::size_t step = std::max<std::size_t>(1, templates.size() / kTemplates);
      for (std::size_t t = 0; t < templates.size(); t += step) check(space_.shape(e), templates[t]);
    }
  }

 private:
  void check(const EinsumShape& shape, const Template& templ) {
    const BoundEinsum& bound = problem_[shape.einsum];
    const std::vector<bool> unlimited(problem_.arch.components.size(), false);
    for (const bool merge_equal : {false, true}) {
      const std::vector<VariableClass> classes = make_classes(shape, templ, merge_equal);
      const CostProgram program = compile(problem_, shape, templ, classes, {}, unlimited);
      for (const VariableClass& cls : classes) {
        const ClassStates states = states_of(shape, cls);
        n_coupled += cls.plain ? 0 : 1;
        n_large += states.size() > MonomialFactor::kBlock ? 1 : 0;
        for (const Monomial& monomial : program.monomials) {
          n_backings += monomial.access >= bound.accesses.size() ? 1 : 0;
          ClassFactor factor(bound, shape, templ, cls, monomial);
          const std::vector<double> all = factor.of_all(states, nullptr);
          ASSERT_EQ(all.size(), states.size());
          for (std::size_t s = 0; s < states.size(); ++s)
            ASSERT_EQ(all[s], factor.of(states.state(s).data()));
        }
      }
    }
  }

  ClassStates states_of(const EinsumShape& shape, const VariableClass& cls) const {
    constexpr int kMany = std::numeric_limits<int>::max();
    ClassLimits limits;
    limits.max_fused_loops = limits.max_fused_loops_per_rank = kMany;
    for (const ClassLoop& loop : cls.loops) {
      const auto& spatial = problem_.arch[loop.component].spatial;
      limits.fanout.push_back(loop.spatial ? spatial[loop.dimension].fanout : 0);
    }
    return StateTables().table_of(shape, cls, limits)->states;
  }

  const BoundProblem& problem_;
  MapperOptions options_;
  sampling::MapSpace space_;
};

TEST(ClassFactor, OfManyStatesAreThoseOfEach) {
  const testing::RandomCases cases = testing::random_cases(150);
  std::size_t n_coupled = 0, n_backings = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase random =
        oracle::random_case(seed, {.max_nests = 2'000, .max_evaluations = 20}, oracle::kAllExtras);
    SCOPED_TRACE(to_yaml(random.spec));
    FactoredProblem drawn(random.problem, random.options);
    drawn.run();
    n_coupled += drawn.n_coupled;
    n_backings += drawn.n_backings;
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(n_coupled, 0U);
  EXPECT_GT(n_backings, 0U);
}

TEST(ClassFactor, OfMoreStatesThanStandSideBySide) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(workload:
  rank_sizes: {M: 64, C: 12, P: 24, R: 3, H: 49}
  bits_per_value: {All: 8}
  einsums: ["O[m,p] = I[c,H:2*p+r] * W[m,c,r]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 8 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 8 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: 4 KiB, tensors: {keep: All}, actions: [{name: read, energy: 1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 1 pJ/bit, throughput: 16 GB/s}]}
  - !Memory {name: Local, size: 64 B, spatial: [{name: X, fanout: 8}], tensors: {keep: All}, actions: [{name: read, energy: 0.1 pJ/bit, throughput: inf}, {name: write, energy: 0.1 pJ/bit, throughput: inf}]}
  - !Compute {name: PE, actions: [{name: compute, energy: 0.1 pJ, throughput: 16 GHz}]}
)yaml");
  FactoredProblem convolution(problem, {});
  convolution.run();
  EXPECT_GT(convolution.n_coupled, 0U);
  EXPECT_GT(convolution.n_large, 0U);
}

}  // namespace
}  // namespace sluice::fused
