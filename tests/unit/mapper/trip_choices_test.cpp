#include "mapper/fused/trip_choices.h"

#include <gmock/gmock.h>

namespace sluice::fused {
namespace {

using ::testing::ElementsAre;

TEST(TripChoices, AreDivisorsWherePerfectOnesAreWanted) {
  TripChoices choices;
  EXPECT_THAT(choices.of(12, 12, false), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(choices.of(12, 6, true), ElementsAre(1, 2, 3, 6));
}

TEST(TripChoices, OfAnOutermostLoopMayBeImperfect) {
  TripChoices choices;
  // 7 values: tiles of 4 (4 + 3), 3 (3 + 3 + 1) and 2 (2 + 2 + 2 + 1); 5 and 6 take two steps as 4
  // does.
  EXPECT_THAT(choices.of(7, 7, true), ElementsAre(1, 7, imperfect_trips(7, 4),
                                                  imperfect_trips(7, 3), imperfect_trips(7, 2)));
}

TEST(TripChoices, KeepMultiplesOfADivisorAsTheNextTileDividesTheSize) {
  // 10 = 6 + 4: in steps of 2; in steps of 1 two tiles are 5 and 5.
  EXPECT_THAT(imperfect_tiles(10), ElementsAre(6, 4, 3));
}

TEST(TripChoices, BelowAnImperfectLoopLeaveATileThatDividesTheSize) {
  TripChoices choices;
  EXPECT_THAT(choices.of(10, 6, true), ElementsAre(1, 3, 6));  // tiles 6 (none inside), 2, 1
}

TEST(TripCount, TellsStepsAndTileOfAnImperfectLoop) {
  const std::int64_t trips = imperfect_trips(147, 74);
  EXPECT_TRUE(is_imperfect(trips));
  EXPECT_EQ(trip_count(trips), 2);
  EXPECT_EQ(tile_inside(147, trips), 74);
  EXPECT_FALSE(is_imperfect(3));
  EXPECT_EQ(trip_count(3), 3);
  EXPECT_EQ(tile_inside(147, 3), 49);
}

}  // namespace
}  // namespace sluice::fused
