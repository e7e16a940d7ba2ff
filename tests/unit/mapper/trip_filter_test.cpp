#include <gtest/gtest.h>

#include <vector>

#include "mapper/fused/exchange/trip_filter.h"

namespace sluice::fused {
namespace {

bool allows(const TripFilter& filter, const TripFilter::Trips& trips) {
  TripFilter::Left left = filter.all();
  for (const std::int64_t own : trips) left = filter.with(left, own);
  return left.first < left.last;
}

TEST(TripFilter, KnowsWhatBeginsAsSomethingAllowed) {
  const std::vector<TripFilter::Trips> trips = {{1, 4, 1}, {1, 4, 2}, {2, 1, 2}, {2, 1, 2}};
  std::vector<const TripFilter::Trips*> allowed;
  for (const TripFilter::Trips& own : trips) allowed.push_back(&own);
  const TripFilter filter({0, 2, 3}, allowed);
  EXPECT_TRUE(allows(filter, {}));
  EXPECT_TRUE(allows(filter, {1}));
  EXPECT_TRUE(allows(filter, {1, 4}));
  EXPECT_TRUE(allows(filter, {2, 1, 2}));  // twice
  EXPECT_FALSE(allows(filter, {3}));
  EXPECT_FALSE(allows(filter, {1, 1}));
  EXPECT_FALSE(allows(filter, {1, 4, 4}));
  EXPECT_FALSE(allows(filter, {2, 4, 1}));  // others begin with 1
}

TEST(TripFilter, AllowsNothingOfNothing) {
  const TripFilter filter({0}, {});
  EXPECT_FALSE(allows(filter, {}));
  EXPECT_FALSE(allows(filter, {1}));
}

}  // namespace
}  // namespace sluice::fused
