#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "mapper/fused/price/extend_lanes.h"

namespace sluice::fused {
namespace {

using Bounds = LaneWork::Bounds;

// Three products stay open, five rows close others, of all kinds: each state by itself, in the same
// order of operations, has the same bits.
TEST(ExtendLanes, ComputesWhatEachStateComputesAlone) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(0.1, 9);
  for (const std::size_t stride : {LaneWork::kLanes, 5 * LaneWork::kLanes}) {
    std::vector<std::vector<double>> columns(4);
    for (std::vector<double>& column : columns)
      std::generate_n(std::back_inserter(column), stride, [&] { return number(random); });
    columns[0][0] = columns[3][0] = 0.1;  // one state at least meets the limit, others do not
    columns[0][1] = columns[3][1] = 9;
    LaneWork work;
    work.least_latency = 4;
    work.open = {{number(random), columns[0].data()}, {7, nullptr}, {1, columns[3].data()}};
    work.terms = {{columns[1].data(), number(random)},
                  {columns[2].data(), -number(random)},
                  {columns[2].data(), number(random)},
                  {columns[0].data(), number(random)}};
    work.shares = {{0, number(random)}, {2, -0.5}, {1, 3}, {2, 1}};
    work.rows = {{2, 1, 2, 2, Bounds::kEnergy, 0},
                 {0, 0, 3, 3, Bounds::kLatency, 0},
                 {1, 0, 3, 3, Bounds::kNothing, 0},
                 {0, 0.5, 4, 4, Bounds::kLimit, 8},
                 {5, 0, 4, 4, Bounds::kLatency, 0}};
    std::vector<double> rows(5 * stride), open(3 * stride), energy(stride), latency(stride),
        exceeds(stride);
    extend_lanes(work,
                 {stride, rows.data(), open.data(), energy.data(), latency.data(), exceeds.data()});
    for (std::size_t s = 0; s < stride; ++s) {
      for (std::size_t o = 0; o < 3; ++o)
        EXPECT_EQ(open[o * stride + s], work.open[o].column == nullptr
                                            ? work.open[o].factor
                                            : work.open[o].factor * work.open[o].column[s]);
      double expected_latency = work.least_latency, expected_energy = 0;
      bool exceeded = false;
      std::size_t term = 0, share = 0;
      for (std::size_t r = 0; r < 5; ++r) {
        const LaneWork::Row& row = work.rows[r];
        double sum = row.sum;
        for (; term < row.terms; ++term)
          sum += work.terms[term].weight * work.terms[term].column[s];
        EXPECT_EQ(rows[r * stride + s], sum);
        sum += row.untouched;
        for (; share < row.shares; ++share)
          sum += work.shares[share].factor * open[work.shares[share].open * stride + s];
        if (row.bounds == Bounds::kEnergy) expected_energy = sum;
        if (row.bounds == Bounds::kLatency) expected_latency = std::max(expected_latency, sum);
        if (row.bounds == Bounds::kLimit) exceeded = sum > row.limit;
      }
      EXPECT_EQ(energy[s], expected_energy);
      EXPECT_EQ(latency[s], expected_latency);
      EXPECT_EQ(exceeds[s] != 0, exceeded);
    }
    EXPECT_TRUE(std::any_of(exceeds.begin(), exceeds.end(), [](double e) { return e != 0; }));
    EXPECT_TRUE(std::any_of(exceeds.begin(), exceeds.end(), [](double e) { return e == 0; }));
  }
}

}  // namespace
}  // namespace sluice::fused
