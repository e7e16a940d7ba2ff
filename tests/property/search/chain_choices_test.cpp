// Random problems: what chains give each Einsum makes mappings of the searched space, so that none
// is better than the referee's optimum, and exchanges tensors as the mapping that it is asked for.
#include "mapper/chains/chain_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "mapper/chains/chain_start.h"
#include "mapper/chains/run_fusion.h"
#include "mapper/sampling/drawer.h"
#include "mapper/strategies/walks.h"
#include "oracle/compare.h"
#include "oracle/compound/compound_case.h"
#include "sluice/mapper/registry.h"
#include "sluice/support/error.h"
#include "support/random_cases.h"

namespace sluice::chains {
namespace {

constexpr double kAllowance = 1e-12;

class ChainedCase {
 public:
  explicit ChainedCase(std::uint64_t seed)
      : drawn_(oracle::random_case(seed, {.max_nests = 500, .max_evaluations = 500},
                                   oracle::kAllExtras)),
        options_(options_of_walks(drawn_.options)),
        space_(drawn_.problem, options_),
        use_(space_),
        drawer_(space_, &use_, sampling::RandomSource(seed), nullptr) {}

  int n_started = 0, n_asked = 0, n_given = 0, n_better = 0, n_best = 0, n_fused = 0, n_refined = 0;

  void run() {
    start();
    ChainChoices choices(&space_, &use_, nullptr);
    constexpr int kMappings = 4;
    for (int i = 0; i < kMappings; ++i) {
      const auto genome = drawer_.draw_mapping();
      if (genome) improve(*genome, &choices);
      if (genome) refine(*genome, &choices);
    }
  }

  /// From one mapping on to others in which some neighbours are fused.
  void fuse() {
    ChainChoices choices(&space_, &use_, nullptr);
    RunFusion fusion(space_, &choices);
    auto genome = drawer_.draw_mapping();
    const auto whole = genome ? space_.price(*genome) : std::nullopt;
    constexpr int kDraws = 12;
    for (int i = 0; whole && i < kDraws; ++i) {
      auto fused = fusion.draw(*genome, *whole, &drawer_.random());
      if (!fused) continue;
      ++n_fused;
      EXPECT_TRUE(space_.price(*fused));
      check(*fused);
      genome = std::move(fused);
    }
  }

 private:
  static constexpr double kSoon = 0.01;  // s

  void start() {
    ChainStart chains(drawn_.problem, options_, nullptr);
    constexpr std::size_t kWays = 4;
    for (int i = 0; i < 2; ++i) chains.search(kWays, nullptr, &space_, &use_);
    const auto genome = chains.genome(space_, nullptr);
    if (!genome) return;
    ++n_started;
    check(*genome);
    const auto whole = space_.price(*genome);
    if (!whole) return;
    chains.improve(kSoon, *whole, &space_, &use_);
    const auto better = chains.genome(space_, nullptr);
    ASSERT_TRUE(better);
    check(*better);
    move(&chains, *better);
  }

  /// In a space of few templates it gets those that it has.
  void move(ChainStart* chains, const sampling::Genome& genome) {
    sampling::MapSpace few(drawn_.problem, options_, {.most = 1});
    chains->move(space_, &few);
    const auto moved = chains->genome(few, nullptr);
    ASSERT_TRUE(moved);
    const auto before = space_.price(genome), after = few.price(*moved);
    ASSERT_EQ(before.has_value(), after.has_value());
    if (!before) return;
    EXPECT_EQ(before->energy_j, after->energy_j);
    EXPECT_EQ(before->latency_s, after->latency_s);
  }

  void refine(const sampling::Genome& genome, ChainChoices* choices) {
    const auto whole = space_.price(genome);
    if (!whole) return;
    const auto refined = choices->refine(genome, *whole, kSoon);
    if (!refined) return;
    ++n_refined;
    check(*refined);
    const auto after = space_.price(*refined);
    ASSERT_TRUE(after);
    EXPECT_LT(after->energy_j * after->latency_s, whole->energy_j * whole->latency_s);
    for (std::size_t e = 0; e < genome.size(); ++e)
      EXPECT_EQ((*refined)[e]->compatibility, genome[e]->compatibility);
  }

  void improve(sampling::Genome genome, ChainChoices* choices) {
    const auto whole = space_.price(genome);
    if (!whole) return;
    for (std::size_t e = 0; e < genome.size(); ++e) {
      ++n_asked;
      const auto before = space_.price_alone(e, *genome[e]);
      const sampling::ChoicePtr choice = choices->of(e, *genome[e], *whole);
      if (!choice) continue;
      ++n_given;
      EXPECT_EQ(choice->compatibility, genome[e]->compatibility);
      EXPECT_TRUE(space_.is_choice(e, choice->templ, choice->trips));
      const auto after = space_.price_alone(e, *choice);
      ASSERT_TRUE(after);
      if (before)
        n_better +=
            after->energy_j * whole->latency_s + after->latency_s * whole->energy_j <
                    before->energy_j * whole->latency_s + before->latency_s * whole->energy_j
                ? 1
                : 0;
      genome[e] = choice;
    }
    check(genome);
  }

  void check(const sampling::Genome& genome) {
    EXPECT_TRUE(space_.joins(genome));
    const auto found = space_.price(genome);
    if (!found) return;  // Einsums that fit by themselves need not fit together
    if (has_soft_filter()) return;
    const auto& best = drawn_.truth.best_edp;
    const std::string text =
        to_yaml(drawn_.spec) +
        to_yaml(space_.build(genome), drawn_.problem.workload, drawn_.problem.arch);
    ASSERT_TRUE(best) << text;
    const double is = found->energy_j * found->latency_s;
    const double should = best->point.energy_j * best->point.latency_s;
    EXPECT_GE(is * (1 + kAllowance), should) << text;
    n_best += is <= should * (1 + kAllowance) ? 1 : 0;
  }

  /// `min_usage` asks for what a placement can do as far as that is known.
  bool has_soft_filter() const {
    const auto& components = drawn_.problem.arch.components;
    return std::any_of(components.begin(), components.end(), [](const Component& own) {
      return std::any_of(own.spatial.begin(), own.spatial.end(),
                         [](const SpatialDimension& d) { return d.min_usage.has_value(); });
    });
  }

  oracle::RandomCase drawn_;
  MapperOptions options_;
  sampling::MapSpace space_;
  sampling::FanoutUse use_;
  sampling::Drawer drawer_;
};

TEST(ChainChoices, FuseNeighboursWithinTheSpace) {
  const testing::RandomCases cases = testing::random_cases(100);
  std::int64_t n_fused = 0, n_best = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ChainedCase drawn(seed);
    drawn.fuse();
    n_fused += drawn.n_fused;
    n_best += drawn.n_best;
  }
  RecordProperty("fused", static_cast<int>(n_fused));
  RecordProperty("best", static_cast<int>(n_best));
  EXPECT_GT(n_fused, cases.count / 2);
  EXPECT_GT(n_best, cases.count / 50);
}

/// The least energy of runs that are fused in a mapping that exchanges all in the outermost memory,
/// over that of the best mapping. `goes_on`: from each that is better on to others.
double fused_over_best(int n_draws, const std::string& text, bool goes_on = false) {
  const BoundProblem problem = oracle::bind_compound(text);
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  options = options_of_walks(options);
  sampling::MapSpace space(problem, options);
  sampling::FanoutUse use(space);
  sampling::Drawer drawer(space, &use, sampling::RandomSource(1), nullptr);
  ChainStart start(problem, options, nullptr);
  constexpr std::size_t kWays = 4;
  start.search(kWays, nullptr, &space, &use);
  auto plain = start.genome(space, nullptr);
  SLUICE_CHECK(plain.has_value(), "no mapping that exchanges all in the outermost memory");
  auto whole = space.price(*plain);
  ChainChoices choices(&space, &use, nullptr);
  RunFusion fusion(space, &choices);
  double least_j = whole->energy_j;
  for (int i = 0; i < n_draws; ++i) {
    const auto fused = fusion.draw(*plain, *whole, &drawer.random());
    if (!fused || space.price(*fused).value().energy_j >= least_j) continue;
    least_j = space.price(*fused).value().energy_j;
    if (!goes_on) continue;
    plain = fused;
    whole = space.price(*plain);
  }
  const auto best = standard_mappers().find("fused")->map(problem, options, {});
  return least_j / best.value().mappings.front().cost.energy_j;
}

// K and V of a head fill half of the buffer, so that loops over rows of Q must stand below K's
// node, and no Einsum may have more of the buffer than the others leave it.
TEST(ChainChoices, FuseAttentionWithRoomForAllOfIt) {
  const double over_best = fused_over_best(100, R"yaml(workload:
  rank_sizes: {H: 2, M: 64, P: 64, E: 16, F: 16}
  bits_per_value: {All: 8}
  einsums:
  - "S[h,m,p] = Q[h,m,e] * K[h,p,e]"
  - "SMX[h,m] = max(S[h,m,p])"
  - "SE[h,m,p] = exp(S[h,m,p] - SMX[h,m])"
  - "SS[h,m] = SE[h,m,p]"
  - "A[h,m,p] = SE[h,m,p] / SS[h,m]"
  - "AV[h,m,f] = A[h,m,p] * V[h,p,f]"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 8 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: 4 KiB, tensors: {keep: All}, actions: [{name: read, energy: 1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 1 pJ/bit, throughput: 16 GB/s}]}
  - !Compute {name: PE, actions: [{name: compute, energy: 1 pJ, throughput: 16 GHz}]}
)yaml");
  EXPECT_LE(over_best, 1.1);
}

// Weights pass the buffer by: the fewer steps there are above them the better, and so the less may
// lie there of what is exchanged. Few draws do, as the cut of the whole cascade is looked for; runs
// drawn one by one come to 1.51 times the optimum.
TEST(ChainChoices, CutALongCascadeAtOnce) {
  std::string einsums;
  for (int block = 0; block < 5; ++block) {
    const std::string now = std::to_string(block), next = std::to_string(block + 1);
    einsums += "  - A" + now + "[p,k" + next + "] = B" + now + "[p,k" + now + "] * W" + now + "[k" +
               now + ",k" + next + "]\n  - B" + next + "[p,k" + next + "] = exp(A" + now + "[p,k" +
               next + "])\n";
  }
  const double over_best = fused_over_best(16, R"yaml(workload:
  rank_sizes: {P: 128, K0: 16, K1: 64, K2: 16, K3: 64, K4: 16, K5: 64}
  bits_per_value: {All: 8}
  einsums:
)yaml" + einsums + R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 8 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: 2 KiB, tensors: {may_keep: Intermediates}, actions: [{name: read, energy: 0.1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 0.1 pJ/bit, throughput: 16 GB/s}]}
  - !Memory {name: Local, size: 1 KiB, tensors: {keep: All}, actions: [{name: read, energy: 0.05 pJ/bit, throughput: inf}, {name: write, energy: 0.05 pJ/bit, throughput: inf}]}
  - !Compute {name: PE, actions: [{name: compute, energy: 1 pJ, throughput: 16 GHz}]}
)yaml",
                                           true);
  EXPECT_LE(over_best, 1.45);
}

// The state is handed on below a loop over its steps, outside of local memories that nothing of the
// buffer may stand below.
TEST(ChainChoices, FuseARecurrenceBelowItsSteps) {
  const double over_best = fused_over_best(400, R"yaml(workload:
  rank_sizes: {I: 32, E: 32, N: 4}
  bits_per_value: {All: 8}
  initial: {H: 0}
  einsums:
  - "DA[i,e,n] = exp(DL[i,e] * A[e,n])"
  - "BX[i,e,n] = DX[i,e] * BT[i,n]"
  - "H[i+1,e,n] = DA[i,e,n] * H[i,e,n] + BX[i,e,n]"
  - "YS[i,e] = sum(H[i+1,e,n] * CT[i,n])"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 8 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: 1 KiB, tensors: {keep: ~Main, may_keep: All}, actions: [{name: read, energy: 1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 1 pJ/bit, throughput: 16 GB/s}]}
  - !Memory {name: Local, size: 64 B, spatial: [{name: X, fanout: 4}], tensors: {keep: All}, actions: [{name: read, energy: 0.1 pJ/bit, throughput: inf}, {name: write, energy: 0.1 pJ/bit, throughput: inf}]}
  - !Compute {name: PE, actions: [{name: compute, energy: 0.1 pJ, throughput: 16 GHz}]}
)yaml");
  EXPECT_LE(over_best, 1.1);
}

// What the second half takes from the first one lies below the loops that all of them share; what
// each half exchanges within itself has room below more of them.
TEST(ChainChoices, FuseRunsWithinARun) {
  const double over_best = fused_over_best(200, R"yaml(workload:
  rank_sizes: {P: 32, K: 32, M: 32}
  bits_per_value: {All: 8}
  einsums:
  - "D[k,p] = X[k,p] * WD[k]"
  - "DR[k,p] = max(D[k,p], 0)"
  - "Y[m,p] = DR[k,p] * WY[m,k]"
  - "YR[m,p] = max(Y[m,p], 0)"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 8 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: 640 B, tensors: {keep: All}, actions: [{name: read, energy: 0.1 pJ/bit, throughput: 16 GB/s}, {name: write, energy: 0.1 pJ/bit, throughput: 16 GB/s}]}
  - !Compute {name: PE, actions: [{name: compute, energy: 0.1 pJ, throughput: 16 GHz}]}
)yaml");
  EXPECT_LE(over_best, 1.02);
}

TEST(ChainChoices, AreChoicesOfTheSpaceThatExchangeTheSame) {
  const testing::RandomCases cases = testing::random_cases(200);
  std::int64_t n_started = 0, n_asked = 0, n_given = 0, n_better = 0, n_best = 0, n_refined = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ChainedCase drawn(seed);
    drawn.run();
    n_started += drawn.n_started;
    n_asked += drawn.n_asked;
    n_given += drawn.n_given;
    n_better += drawn.n_better;
    n_best += drawn.n_best;
    n_refined += drawn.n_refined;
    if (HasFatalFailure()) return;
  }
  RecordProperty("started", static_cast<int>(n_started));
  RecordProperty("asked", static_cast<int>(n_asked));
  RecordProperty("given", static_cast<int>(n_given));
  RecordProperty("better", static_cast<int>(n_better));
  RecordProperty("refined", static_cast<int>(n_refined));
  RecordProperty("best", static_cast<int>(n_best));
  EXPECT_GE(n_started * 4, cases.count);
  EXPECT_GE(n_given * 2, n_asked);
  EXPECT_GE(n_better * 5, n_given);
  EXPECT_GE(n_best * 8, n_given);
  EXPECT_GE(n_refined * 2, cases.count);
}

}  // namespace
}  // namespace sluice::chains
