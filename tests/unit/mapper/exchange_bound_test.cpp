#include "mapper/fused/graph/exchange_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

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

}  // namespace
}  // namespace sluice::fused
