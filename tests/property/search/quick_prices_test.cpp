// Compiled prices of a template's shapes, asked for one by one and in walks, are the model's;
// uneven loops that walks draw are of the space.
#include "mapper/sampling/quick_prices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mapper/sampling/shape_walk.h"
#include "mapper/sampling/space/trip_walk.h"
#include "mapper/sampling/space/uneven_loops.h"
#include "mapper/strategies/walks.h"
#include "oracle/compare.h"
#include "sluice/mapper/objective_value.h"
#include "support/random_cases.h"

namespace sluice::sampling {
namespace {

constexpr double kEqual = 1e-12;
constexpr int kSteps = 60;

void expect_equal(double is, double should) {
  EXPECT_LE(std::abs(is - should), kEqual * std::abs(should)) << is << " for " << should;
}

class WalkedCase {
 public:
  WalkedCase(std::uint64_t seed, ImperfectFactors imperfect)
      : drawn_(oracle::random_case(seed, {.max_nests = 2'000, .max_evaluations = 20},
                                   oracle::kAllExtras)),
        problem_(imperfect == ImperfectFactors::kNone
                     ? drawn_.problem
                     : oracle::written_problem(drawn_.spec =
                                                   oracle::with_one_long_rank(drawn_.spec, seed))),
        options_(with(imperfect, options_of_walks(drawn_.options))),
        space_(problem_, options_),
        use_(space_),
        drawer_(space_, &use_, RandomSource(seed), nullptr),
        prices_(space_) {}

  int n_priced = 0, n_better = 0, n_refused = 0, n_uneven = 0, n_nested = 0;

  void run() {
    constexpr int kMappings = 4, kDraws = 30;
    for (int i = 0; i < kMappings; ++i) {
      const std::optional<Genome> genome = drawer_.draw_mapping();
      if (!genome) continue;
      SCOPED_TRACE(to_yaml(drawn_.spec) +
                   to_yaml(space_.build(*genome), problem_.workload, problem_.arch));
      check(*genome);
      if (options_.imperfect_factors != ImperfectFactors::kNone)
        for (std::size_t e = 0; e < genome->size(); ++e)
          for (int draw = 0; draw < kDraws; ++draw) draw_uneven(*genome, e);
      for (std::size_t e = 0; e < genome->size(); ++e) walk(*genome, e);
    }
  }

 private:
  static MapperOptions with(ImperfectFactors imperfect, MapperOptions options) {
    options.imperfect_factors = imperfect;
    return options;
  }

  /// Whether a loop inside an uneven one has a smaller last tile, too.
  bool has_uneven_tiles_inside(std::size_t e, std::uint32_t t, const Trips& trips) const {
    std::vector<std::int64_t> tiles = space_.shape(e).sizes;
    for (std::size_t l = 0; l < trips.size(); ++l) {
      const std::uint32_t v = space_.templates(e)[t].loops[l].variable;
      const std::int64_t size = space_.shape(e).sizes[v];
      const bool is_inside = size % tiles[v] != 0;
      tiles[v] = fused::tile_inside(tiles[v], trips[l]);
      if (is_inside && trips[l] != 1 && size % tiles[v] != 0) return true;
    }
    return false;
  }

  /// What is drawn and keeps the limits is among all shapes of the template, and priced like them.
  void draw_uneven(const Genome& genome, std::size_t e) {
    Trips trips = genome[e]->trips;
    const std::uint32_t t = genome[e]->templ;
    if (!UnevenLoops(space_, &drawer_.random()).draw(e, t, &trips)) return;
    if (!space_.is_choice(e, t, trips)) return;
    n_nested += has_uneven_tiles_inside(e, t, trips) ? 1 : 0;
    bool is_listed = false;
    walk_trips(
        space_, e, t, Trips(trips.size(), 0), std::numeric_limits<std::uint64_t>::max(),
        [] { return false; }, [&](const Trips& listed) { return !(is_listed = listed == trips); });
    EXPECT_TRUE(is_listed);
    Genome changed = genome;
    changed[e] = space_.make_choice(e, t, std::move(trips));
    EXPECT_TRUE(space_.joins(changed));
    check(changed);
    ++n_uneven;
  }

  /// A whole mapping costs what its Einsums cost, where all of them are priced.
  void check(const Genome& genome) {
    const std::optional<CostTotals> whole = space_.price(genome);
    if (!whole) return;
    double energy_j = 0, latency_s = 0;
    for (std::size_t e = 0; e < genome.size(); ++e) {
      fused::TemplatePrice* price = prices_.of(e, genome[e]->templ);
      if (price == nullptr) return;
      const auto own = price->of(genome[e]->trips);
      if (!own) {
        ++n_refused;
        return;
      }
      energy_j += own->energy_j;
      latency_s += own->latency_s;
    }
    if (prices_.are_exact())
      expect_equal(energy_j, whole->energy_j);
    else
      EXPECT_LE(energy_j, whole->energy_j * (1 + kEqual));
    expect_equal(latency_s, whole->latency_s);
    ++n_priced;
  }

  void walk(const Genome& genome, std::size_t e) {
    fused::TemplatePrice* price = prices_.of(e, genome[e]->templ);
    if (price == nullptr) return;
    const Share share = [&](const CostTotals& of) {
      return objective_value(Objective::kEdp, of.energy_j, of.latency_s);
    };
    const auto [choice, totals] =
        ShapeWalk(space_, &use_, &drawer_.random())
            .best(e, *genome[e], price, share, kSteps, 0.3);  // NOLINT(readability-magic-numbers)
    if (!choice) return;
    const auto before = price->of(genome[e]->trips);
    ASSERT_TRUE(before);
    EXPECT_LT(share(totals), before->energy_j * before->latency_s);
    EXPECT_EQ(choice->templ, genome[e]->templ);
    EXPECT_TRUE(space_.is_choice(e, choice->templ, choice->trips));
    EXPECT_TRUE(use_.is_enough(e, choice->templ, choice->trips));
    const auto& loops = space_.templates(e)[choice->templ].loops;
    for (std::size_t l = 0; l < loops.size(); ++l)
      EXPECT_TRUE(!loops[l].fused || choice->trips[l] == genome[e]->trips[l]);
    Genome changed = genome;
    changed[e] = choice;
    EXPECT_TRUE(space_.joins(changed));
    check(changed);
    ++n_better;
  }

  oracle::RandomCase drawn_;
  BoundProblem problem_;
  MapperOptions options_;
  MapSpace space_;
  FanoutUse use_;
  Drawer drawer_;
  QuickPrices prices_;
};

TEST(QuickPrices, AreTheModels) {
  const testing::RandomCases cases = testing::random_cases(80);
  int n_priced = 0, n_better = 0, n_refused = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    WalkedCase drawn(seed, ImperfectFactors::kNone);
    drawn.run();
    if (::testing::Test::HasFailure()) break;
    n_priced += drawn.n_priced;
    n_better += drawn.n_better;
    n_refused += drawn.n_refused;
  }
  RecordProperty("priced", n_priced);
  RecordProperty("better", n_better);
  RecordProperty("refused", n_refused);
  EXPECT_GE(n_priced, cases.count);
  EXPECT_GE(n_better * 4, cases.count);
  // Nodes above the steps of a recurrence that sink through them: other templates have them below.
  EXPECT_LE(n_refused * 50, n_priced);
}

TEST(QuickPrices, OfUnevenLoopsAreTheModels) {
  const testing::RandomCases cases = testing::random_cases(60);
  int n_priced = 0, n_better = 0, n_uneven = 0, n_nested = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    WalkedCase drawn(seed, i % 2 == 0 ? ImperfectFactors::kUnfused : ImperfectFactors::kAll);
    drawn.run();
    if (::testing::Test::HasFailure()) break;
    n_priced += drawn.n_priced;
    n_better += drawn.n_better;
    n_uneven += drawn.n_uneven;
    n_nested += drawn.n_nested;
  }
  RecordProperty("priced", n_priced);
  RecordProperty("better", n_better);
  RecordProperty("uneven", n_uneven);
  RecordProperty("uneven inside uneven", n_nested);
  EXPECT_GE(n_uneven * 2, cases.count);
  EXPECT_GE(n_nested * 10, cases.count);
  EXPECT_GE(n_priced, cases.count);
  EXPECT_GE(n_better * 4, cases.count);
}

}  // namespace
}  // namespace sluice::sampling
