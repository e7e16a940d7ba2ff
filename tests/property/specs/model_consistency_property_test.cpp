#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/compare.h"
#include "oracle/enumerate_einsum.h"
#include "oracle/single_einsum.h"
#include "sluice/mapping/normal_form.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kFewNests = {.max_nests = 60'000, .max_evaluations = 4'000};

/// Visits a few nests of every Einsum of random problems, as mappings of that Einsum alone.
template <class Visit>
void for_each_nest(std::int64_t default_count, const Visit& visit) {
  const testing::RandomCases cases = testing::random_cases(default_count);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::ProblemSpec spec = oracle::random_problem(seed);
    const BoundProblem problem = oracle::bind_problem(spec);
    for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e) {
      const oracle::NestList list =
          oracle::enumerate_nests(problem, oracle::options_of(spec), EinsumId(e), kFewNests);
      const BoundProblem single = oracle::single_einsum_problem(problem, EinsumId(e));
      const std::size_t step = list.nests.size() / 20 + 1;
      for (std::size_t n = 0; n < list.nests.size(); n += step) {
        oracle::Pmapping nest = list.nests[n];
        nest.einsum = EinsumId(0);
        visit(seed, single, oracle::to_nodes(nest));
      }
    }
  }
}

bool same_price(const BoundProblem& problem, const Mapping& a, const Mapping& b) {
  std::vector<Violation> violations_a;
  std::vector<Violation> violations_b;
  const auto cost_a = evaluate_ignoring_capacity(problem, a, &violations_a);
  const auto cost_b = evaluate_ignoring_capacity(problem, b, &violations_b);
  if (cost_a.has_value() != cost_b.has_value()) return false;
  return !cost_a || (*cost_a == *cost_b && violations_a.size() == violations_b.size());
}

TEST(Model, PricesAMappingAndItsNormalFormAlike) {
  for_each_nest(200, [](std::uint64_t seed, const BoundProblem& problem, const NodeList& nodes) {
    const Mapping mapping{nodes, {}};
    const Mapping normal = normal_form(mapping, problem.workload, problem.arch);
    EXPECT_EQ(normal_form(normal, problem.workload, problem.arch), normal) << "seed " << seed;
    EXPECT_TRUE(same_price(problem, mapping, normal))
        << "seed " << seed << "\n"
        << to_yaml(mapping, problem.workload, problem.arch) << "normal form\n"
        << to_yaml(normal, problem.workload, problem.arch);
  });
}

bool slides(const Node& node) {
  const auto* storage = std::get_if<StorageNode>(&node.kind);
  return storage && storage->sliding;
}

/// Two temporal loops over different variables directly under each other, below no storage node, in
/// a nest without sliding windows (there the order says which loop is passed).
bool may_swap(const NodeList& nodes, std::size_t i) {
  if (std::any_of(nodes.begin(), nodes.end(), slides)) return false;
  const auto* outer = std::get_if<TemporalNode>(&nodes[i].kind);
  const auto* inner = std::get_if<TemporalNode>(&nodes[i + 1].kind);
  const bool below_a_loop = i > 0 && !std::holds_alternative<StorageNode>(nodes[i - 1].kind);
  return outer && inner && below_a_loop && outer->variables != inner->variables;
}

TEST(Model, TheOrderOfLoopsInsideAGapChangesNoCount) {
  for_each_nest(200, [](std::uint64_t seed, const BoundProblem& problem, const NodeList& nodes) {
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      if (!may_swap(nodes, i)) continue;
      Mapping mapping{nodes, {}};
      Mapping swapped{nodes, {}};
      std::swap(swapped.nodes[i], swapped.nodes[i + 1]);
      mapping = normal_form(mapping, problem.workload, problem.arch);
      EXPECT_TRUE(same_price(problem, mapping, swapped))
          << "seed " << seed << "\n"
          << to_yaml(mapping, problem.workload, problem.arch) << "with loops swapped\n"
          << to_yaml(swapped, problem.workload, problem.arch);
    }
  });
}

TEST(Model, PricesAFusedMappingAsTheSumOfItsEinsums) {
  const testing::RandomCases cases = testing::random_cases(150);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kFewNests);
    for (const std::string& report : drawn.truth.non_additive)
      ADD_FAILURE() << "seed " << seed << "\n" << oracle::to_yaml(drawn.spec) << report;
    for (const std::string& report : drawn.truth.refusals)
      ADD_FAILURE() << "seed " << seed << " refused\n" << oracle::to_yaml(drawn.spec) << report;
  }
}

TEST(Referee, LosesNothingByDroppingDominatedNests) {
  const testing::RandomCases cases = testing::random_cases(40);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kFewNests);
    oracle::EnumerationLimits all = kFewNests;
    all.max_evaluations *= 5;
    all.keep_dominated_nests = true;
    const oracle::Enumeration truth = oracle::enumerate(drawn.problem, drawn.options, all);
    if (truth.exceeded) continue;
    EXPECT_EQ(truth.full_front, drawn.truth.full_front) << "seed " << seed << "\n"
                                                        << oracle::to_yaml(drawn.spec);
  }
}

}  // namespace
}  // namespace sluice
