// The least traffic, energy and latency are what brute force finds, Einsum by Einsum and together.
#include "sluice/mapper/least_costs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mapper/common/asked_usage.h"
#include "mapper/common/part_of_problem.h"
#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kSmallCases = {.max_nests = 20'000, .max_evaluations = 300};

/// Nothing where there is no mapping.
std::optional<LeastCosts> by_brute_force(const BoundProblem& problem,
                                         const MapperOptions& options) {
  const oracle::Enumeration truth = oracle::enumerate(problem, options);
  const oracle::Enumeration traffic = oracle::enumerate(traffic_problem(problem), options);
  if (!truth.best_energy || !traffic.best_energy) return std::nullopt;
  const auto least = [](double value) { return Least{value, value, true}; };
  return LeastCosts{least(traffic.best_energy->point.energy_j),
                    least(truth.best_energy->point.energy_j),
                    least(truth.best_latency->point.latency_s)};
}

void expect_equal(const LeastCosts& found, const LeastCosts& expected, std::uint64_t seed) {
  for (Least LeastCosts::*number :
       {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s}) {
    const double value = (expected.*number).value;
    EXPECT_NEAR((found.*number).value, value, 1e-12 * value) << "seed " << seed;
    EXPECT_NEAR((found.*number).bound, value, 1e-12 * value) << "seed " << seed;
    EXPECT_TRUE((found.*number).is_proven) << "seed " << seed;
  }
}

/// To exchange all tensors in the outermost memory is one of the ways to map a workload.
void expect_alone_is_a_choice(const LeastCostsOfWorkload& found, std::uint64_t seed) {
  for (Least LeastCosts::*number :
       {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s})
    EXPECT_LE((found.fused.*number).value, (found.alone.*number).value * (1 + 1e-12))
        << "seed " << seed;
}

TEST(LeastCosts, AreWhatBruteForceFinds) {
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t compared = 0, of_several = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kSmallCases, oracle::kProvenExtras);
    const auto together = by_brute_force(drawn.problem, drawn.options);
    std::optional<LeastCosts> alone = LeastCosts{};
    for (std::size_t e = 0; alone && e < drawn.problem.einsums.size(); ++e) {
      const auto one = by_brute_force(part_of_problem(drawn.problem, {EinsumId(e)}), drawn.options);
      if (!one) alone.reset();
      for (Least LeastCosts::*number :
           {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s})
        if (one) ((*alone).*number).value += ((*one).*number).value;
    }
    const auto found = least_costs(drawn.problem, drawn.options, {});
    if (!together) {
      EXPECT_FALSE(found.has_value()) << "seed " << seed;
      continue;
    }
    const bool is_several = drawn.problem.einsums.size() > 1;
    EXPECT_EQ(found.has_value() && found->no_alone, is_several && !alone) << "seed " << seed;
    ASSERT_TRUE(found.has_value()) << "seed " << seed << ": " << found.error().reason;
    expect_equal(found->fused, *together, seed);
    if (found->no_alone) continue;
    expect_equal(found->alone, is_several ? *alone : *together, seed);
    ++compared;
    of_several += drawn.problem.einsums.size() > 1;
  }
  EXPECT_GT(compared, cases.count / 2);
  EXPECT_GT(of_several, cases.count / 6);
}

TEST(LeastCosts, OfEinsumsAloneAreNoLessThanTogether) {
  oracle::Extras plain = oracle::kProvenExtras;
  plain.ports = plain.recurrences = plain.cycles = plain.stepped_usage = false;
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t compared = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kSmallCases, plain);
    if (drawn.problem.einsums.size() < 2 || asks_for_usage(drawn.problem.arch) ||
        drawn.spec.memories.front().may_keep != "All")
      continue;
    const auto found = least_costs(drawn.problem, drawn.options, {});
    if (!found || found->no_alone) continue;
    SCOPED_TRACE(oracle::to_yaml(drawn.spec));
    expect_alone_is_a_choice(*found, seed);
    ++compared;
  }
  EXPECT_GT(compared, cases.count / 6);
}

// Two products of one size: the first one's weights have a place in the buffer, the second one's
// have not. Nothing is exchanged, so that fused and alone are the same.
TEST(LeastCosts, TellEinsumsApartThatAreKeptElsewhere) {
  for (const char* first : {"W", "V"}) {
    const std::string second = first == std::string("W") ? "V" : "W";
    const auto specs =
        load_specs_from_text({{"specs.yaml", R"yaml(workload:
  rank_sizes: {M: 16, K: 16, N: 16}
  bits_per_value: {All: 8}
  einsums: ["Y[m,n] = A[m,k] * )yaml" + std::string(first) +
                                                 R"yaml([k,n]", "Z[m,n] = B[m,k] * )yaml" + second +
                                                 R"yaml([k,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: 1024, tensors: {keep: W, may_keep: W}, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                             {});
    ASSERT_TRUE(specs.has_value());
    const auto found = least_costs(*bind(*specs->workload, *specs->arch), {}, {});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->alone.energy_j.value, found->fused.energy_j.value);
    EXPECT_EQ(found->alone.traffic_bits.value, found->fused.traffic_bits.value);
    EXPECT_FALSE(found->space.leaves_out.empty());
  }
}

// What the Einsums exchange lies in the outermost memory, whatever its rules say of one alone:
// there a state is an intermediate, or nothing is.
TEST(LeastCosts, OfEinsumsAloneHaveWhatTheyExchangeInTheOutermostMemory) {
  struct Machine {
    const char *workload, *main, *buffer;
    double traffic_bits;
  };
  constexpr const char* kProduct = R"yaml(
  rank_sizes: {M: 4, N: 8}
  einsums: ["Z[m,n] = A[m] * B[n]", "Y[m] = sum(Z[m,n])"])yaml";
  const Machine cases[] = {
      {R"yaml(
  rank_sizes: {I: 4, K: 2}
  initial: {H: 0}
  einsums: ["H[i+1,k] = H[i,k] + U[i,k]", "O[i] = sum(H[i+1,k])"])yaml",
       "{keep: ~Intermediates, may_keep: All}", "{may_keep: Outputs}", 288},
      {kProduct, "{keep: Intermediates, may_keep: All}", "{may_keep: All}", 512},
      {kProduct, "{may_keep: All}", "{may_keep: All}", 512}};
  for (const Machine& own : cases) {
    const auto specs = load_specs_from_text(
        {{"specs.yaml",
          "workload:" + std::string(own.workload) + R"yaml(
  bits_per_value: {All: 8}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: )yaml" +
              own.main +
              R"yaml(, actions: [{name: read, energy: 20, throughput: 8}, {name: write, energy: 20, throughput: 8}]}
  - !Memory {name: Buffer, size: 2048, tensors: )yaml" +
              own.buffer +
              R"yaml(, actions: [{name: read, energy: 2, throughput: 64}, {name: write, energy: 2, throughput: 64}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
        {});
    ASSERT_TRUE(specs.has_value());
    const auto found = least_costs(*bind(*specs->workload, *specs->arch), {}, {});
    ASSERT_TRUE(found.has_value());
    expect_alone_is_a_choice(*found, 0);
    EXPECT_EQ(found->alone.traffic_bits.value, own.traffic_bits) << own.workload << own.main;
  }
}

BoundProblem chain(const std::string& buffer, const std::string& spatial = "") {
  const auto specs = load_specs_from_text(
      {{"specs.yaml",
        R"yaml(workload:
  rank_sizes: {M: 16, K: 16, N: 16}
  bits_per_value: {All: 8}
  einsums: ["R[m,k] = exp(A[m,k])", "Z[m,n] = R[m,k] * W[k,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: )yaml" +
            buffer +
            R"yaml(, tensors: {keep: All}, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, )yaml" +
            spatial + R"yaml(actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
      {});
  EXPECT_TRUE(specs.has_value());
  return *bind(*specs->workload, *specs->arch);
}

TEST(LeastCosts, AreNoMoreThanThoseOfSmallerMemories) {
  EXPECT_TRUE(only_grows(chain("256"), chain("512")));
  EXPECT_TRUE(only_grows(chain("256"), chain("256")));
  EXPECT_FALSE(only_grows(chain("512"), chain("256")));
  const std::string lanes = "spatial: [{name: lane, fanout: 4, min_usage: 1}], ";
  EXPECT_FALSE(only_grows(chain("256"), chain("512", lanes)));
  EXPECT_TRUE(only_grows(chain("256", lanes), chain("512", lanes)));  // of traffic
  EXPECT_FALSE(only_grows(chain("256", lanes), chain("512", lanes), &LeastCosts::energy_j));
  const auto small = least_costs(chain("256"), {}, {});
  ASSERT_TRUE(small.has_value());
  const std::atomic<bool> cancel = true;  // nothing is searched: what is known is all there is
  MapperControl control;
  control.cancel = &cancel;
  const auto large = least_costs(chain("512"), {}, control, &*small);
  ASSERT_TRUE(large.has_value());
  EXPECT_TRUE(large->is_cancelled);
  for (const auto number :
       {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s}) {
    EXPECT_EQ((large->fused.*number).value, (small->fused.*number).value);
    EXPECT_EQ((large->alone.*number).value, (small->alone.*number).value);
    EXPECT_LE((large->fused.*number).bound, (large->fused.*number).value);
  }
  EXPECT_FALSE(least_costs(chain("512"), {}, control).has_value());
}

// Searches to their end begin when each number has an answer; that is where this one ends.
TEST(LeastCosts, AllHaveAnAnswerBeforeTheFirstIsProven) {
  const auto specs = load_specs_from_text({{"specs.yaml", R"yaml(workload:
  rank_sizes: {N: 4, C: 64, P: 56, Q: 56, K: 64, R: 3, S: 3}
  bits_per_value: {All: 8}
  einsums: ["D[n,c,p,q] = I[n,c,H:p+r,W:q+s] * F[c,r,s]", "O[n,k,p,q] = D[n,c,p,q] * G[k,c]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 64, throughput: 4}]}
  - !Memory {name: Shared, size: 1000000, tensors: {may_keep: All}, actions: [{name: read, energy: 8, throughput: 64}, {name: write, energy: 8, throughput: 64}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 14}, {name: y, fanout: 12}]}
  - !Memory {name: RF, size: 4000, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 64}, {name: write, energy: 1, throughput: 64}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  std::atomic<bool> cancel = false;
  MapperControl control;
  control.cancel = &cancel;
  control.progress = [&](const std::string&, double fraction) { cancel = fraction >= 0.1; };
  const auto found = least_costs(*bind(*specs->workload, *specs->arch), {}, control);
  ASSERT_TRUE(found.has_value()) << found.error().reason;
  for (const LeastCosts* costs : {&found->alone, &found->fused})
    for (const auto number :
         {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s}) {
      const Least& least = costs->*number;
      EXPECT_TRUE(std::isfinite(least.value));
      EXPECT_GT(least.bound, 0);
      EXPECT_LE(least.bound, least.value);
    }
}

// The compute takes Einsums that exchange something, which none does alone.
TEST(LeastCosts, AreNoneAloneWhereRulesNeedTheOtherEinsums) {
  const auto found = least_costs(chain("512", "enabled: len(Intermediates) == 1, "), {}, {});
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->fused.energy_j.is_proven);
  ASSERT_TRUE(found->no_alone.has_value());
  EXPECT_NE(found->no_alone->reason.find("make no sense for the Einsum"), std::string::npos);
}

}  // namespace
}  // namespace sluice
