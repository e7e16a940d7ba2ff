#include "mapper/fused/graph/exchange_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <random>

namespace sluice::fused {
namespace {

/// How a tensor is exchanged: in a memory, in one of several ways.
struct Way {
  std::uint64_t memory, way;
};

/// Choices of one Einsum.
class Choices {
 public:
  Choices& add(std::initializer_list<Way> ways, double cost) {
    std::vector<std::uint64_t>& exchanges = exchanges_.emplace_back();
    std::vector<std::uint64_t>& memories = memories_.emplace_back();
    for (const Way& way : ways) {
      exchanges.push_back(100 * way.memory + way.way);
      memories.push_back(way.memory);
    }
    costs_.push_back(cost);
    return *this;
  }
  std::vector<ExchangeChoice> all() const {
    std::vector<ExchangeChoice> result;
    for (std::size_t i = 0; i < costs_.size(); ++i)
      result.push_back({exchanges_[i].data(), memories_[i].data(), {costs_[i], 1}});
    return result;
  }

 private:
  std::vector<std::vector<std::uint64_t>> exchanges_, memories_;
  std::vector<double> costs_;
};

constexpr TensorId kA(0), kB(1);

TEST(ExchangeBound, NeighboursAgreeHowTheyExchangeATensor) {
  ExchangeBound bound({{kA}, {kA}});
  // The cheapest of each are in the same memory, but not the same.
  bound.add(Choices().add({{1, 1}}, 1).add({{1, 2}}, 6).add({{2, 1}}, 4).all());
  bound.add(Choices().add({{1, 1}}, 9).add({{1, 2}}, 1).add({{2, 1}}, 2).all());
  EXPECT_EQ(bound.least(Objective::kEnergy), 6);   // in memory 2; by memories alone it were 2
  EXPECT_EQ(bound.least(Objective::kEdp), 6 * 2);  // each takes a second
}

TEST(ExchangeBound, WhoeverUsesATensorLaterAgreesOnItsMemory) {
  ExchangeBound bound({{kA}, {kB}, {kA, kB}});
  bound.add(Choices().add({{1, 1}}, 1).add({{2, 1}}, 5).all());
  bound.add(Choices().add({{1, 1}}, 1).all());
  bound.add(Choices().add({{1, 7}, {1, 1}}, 8).add({{2, 7}, {1, 1}}, 1).all());
  // A lives in memory 2 for 5 + 1, in memory 1 for 1 + 8; how it is exchanged there is forgotten.
  EXPECT_EQ(bound.least(Objective::kEnergy), 5 + 1 + 1);
}

TEST(ExchangeBound, IsInfiniteWhereNothingAgrees) {
  ExchangeBound bound({{kA}, {kA}});
  bound.add(Choices().add({{1, 1}}, 1).all());
  bound.add(Choices().add({{2, 1}}, 1).all());
  EXPECT_TRUE(std::isinf(bound.least(Objective::kEdp)));
}

TEST(ExchangeBound, KnowsMemoriesAloneWhereThereIsTooMuchToCompare) {
  for (const std::size_t most_pairs : {100U, 10U}) {
    ExchangeBound bound({{kA}, {kA}}, most_pairs);
    Choices first, second;
    for (std::uint64_t way = 0; way < 20; ++way) {
      first.add({{1 + way % 2, way}}, static_cast<double>(1 + way % 7));
      second.add({{1 + way % 2, way}}, static_cast<double>(1 + (way + 3) % 7));
    }
    bound.add(first.all());
    bound.add(second.all());
    // (way % 7) + (way + 3) % 7 is 3 at least; memories alone exclude nothing of both least.
    EXPECT_EQ(bound.least(Objective::kEnergy), most_pairs == 100 ? 2 + 3 : 2 + 0);
  }
}

/// A few Einsums with choices drawn at random.
class DrawnExchanges {
 public:
  /// `is_chain`: each tensor is used by two Einsums that follow each other.
  DrawnExchanges(std::uint64_t seed, bool is_chain) : random_(seed), tensors_(kEinsums) {
    for (std::uint32_t t = 0; t < (is_chain ? kEinsums - 1 : 4); ++t) {
      const std::size_t first = is_chain ? t : draw(kEinsums - 1);
      const std::size_t last = is_chain ? t + 1 : first + 1 + draw(kEinsums - 1 - first);
      for (std::size_t e = first; e <= last; ++e)
        if (e == first || e == last || draw(2) == 0) tensors_[e].push_back(TensorId(t));
    }
    for (std::size_t e = 0; e < kEinsums; ++e)
      for (std::size_t c = 0; c < kChoices; ++c) {
        for (std::size_t t = 0; t < tensors_[e].size(); ++t) {
          exchanges_[e][c].push_back(draw(4));
          memories_[e][c].push_back(exchanges_[e][c].back() / 2);
        }
        costs_[e][c] = {static_cast<double>(1 + draw(20)), static_cast<double>(1 + draw(20))};
      }
  }

  double bound(std::size_t most_pairs) const {
    ExchangeBound bound(tensors_, most_pairs);
    for (std::size_t e = 0; e < kEinsums; ++e) {
      std::vector<ExchangeChoice> choices;
      for (std::size_t c = 0; c < kChoices; ++c)
        choices.push_back({exchanges_[e][c].data(), memories_[e][c].data(), costs_[e][c]});
      bound.add(choices);
    }
    return bound.least(Objective::kEnergy);
  }

  /// All users of a tensor exchange it in one way.
  double least() const { return least_from(0, {}, 0); }

 private:
  static constexpr std::size_t kEinsums = 4, kChoices = 8;

  double least_from(std::size_t e, std::map<TensorId, std::uint64_t> known, double energy) const {
    if (e == kEinsums) return energy;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < kChoices; ++c) {
      auto next = known;
      bool agrees = true;
      for (std::size_t t = 0; t < tensors_[e].size(); ++t)
        agrees = agrees && next.try_emplace(tensors_[e][t], exchanges_[e][c][t]).first->second ==
                               exchanges_[e][c][t];
      if (agrees) least = std::min(least, least_from(e + 1, next, energy + costs_[e][c].energy));
    }
    return least;
  }
  std::size_t draw(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  std::mt19937_64 random_;
  std::vector<std::vector<TensorId>> tensors_;
  std::vector<std::uint64_t> exchanges_[kEinsums][kChoices], memories_[kEinsums][kChoices];
  EnergyLatency costs_[kEinsums][kChoices];
};

TEST(ExchangeBound, IsBelowAllThatAgreesAndExactForChains) {
  std::size_t n_loose = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const DrawnExchanges chain(seed, true), any(seed, false);
    EXPECT_EQ(chain.bound(1000), chain.least()) << seed;
    EXPECT_LE(chain.bound(2), chain.least()) << seed;
    EXPECT_LE(any.bound(1000), any.least()) << seed;
    EXPECT_LE(any.bound(2), any.bound(1000)) << seed;
    n_loose += any.bound(1000) < any.least();
  }
  EXPECT_LT(n_loose, 400U);
}

}  // namespace
}  // namespace sluice::fused
