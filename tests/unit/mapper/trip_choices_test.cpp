#include "mapper/shape/trip_choices.h"

#include <gmock/gmock.h>

namespace sluice::fused {
namespace {

using ::testing::ElementsAre;

TEST(TripChoices, AreDivisorsInsidePerfectLoops) {
  TripChoices choices;
  EXPECT_THAT(choices.inside(12, 12), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(choices.inside(6, 6), ElementsAre(1, 2, 3, 6));
}

TEST(TripChoices, OfAnOutermostLoopMayBeImperfect) {
  TripChoices choices;
  // 7 values: tiles of 4 (4 + 3), 3 (3 + 3 + 1), 2 (2 + 2 + 2 + 1); 5 and 6 take two steps as 4
  // does.
  EXPECT_THAT(choices.imperfect(7, 1),
              ElementsAre(imperfect_trips(7, 4), imperfect_trips(7, 3), imperfect_trips(7, 2)));
}

TEST(TripChoices, KeepMultiplesOfTheNextTile) {
  // 10 = 8 + 2 = 6 + 4 = 4 + 4 + 2 in steps of 2 (8, as 4 divides it), = 3 + 3 + 3 + 1 in steps
  // of 1; 9 and 7 take as many steps as 5.
  EXPECT_THAT(imperfect_tiles(10, 1), ElementsAre(8, 6, 4, 3));
  // Where something fans out by 7 or by 14: 7 + 3.
  EXPECT_THAT(imperfect_tiles(10, 7), ElementsAre(8, 7, 6, 4, 3));
}

TEST(TripChoices, InsideAnImperfectLoopTakeFactorsOfTheSizeOfFanoutsAndTwo) {
  TripChoices choices;
  std::int64_t unit = unit_inside(10, 1, 10, 10, imperfect_trips(10, 6));
  EXPECT_EQ(unit, 2);
  EXPECT_THAT(choices.inside(unit, 6), ElementsAre(1, 3, 6));  // tiles 6 (no loop), 2, 1
  unit = unit_inside(10, 3, 10, 10, imperfect_trips(10, 6));
  EXPECT_EQ(unit, 6);
  EXPECT_THAT(choices.inside(unit, 6), ElementsAre(1, 2, 3, 6));  // 3 + 3 + 3 + 1
  EXPECT_EQ(unit_inside(15, 1, 15, 15, imperfect_trips(15, 12)), 12);
}

TEST(TripCount, OfRowsHasAFirstTileLaterOnesAndARest) {
  // Four steps of two rows with windows of three: 4 rows first, 2 more in each later step.
  const std::int64_t trips = row_trips({5, 4, 4, 2, 4});
  EXPECT_EQ(trip_count(trips), 4);
  EXPECT_EQ(row_frame(trips), 5);
  EXPECT_EQ(tile_inside(10, trips), 4);
  const std::vector<EqualTiles> tiles = uneven_tiles(10, trips);
  ASSERT_EQ(tiles.size(), 3U);
  EXPECT_EQ(tiles[0].tile, 4);
  EXPECT_EQ(tiles[1].tile * tiles[1].count + tiles[2].tile, 6);
  EXPECT_EQ(unit_inside(10, 1, 10, 10, trips), 2);
}

TEST(TripCount, TellsStepsAndTileOfAnImperfectLoop) {
  const std::int64_t trips = imperfect_trips(147, 74);
  EXPECT_TRUE(is_uneven(trips));
  EXPECT_EQ(trip_count(trips), 2);
  EXPECT_EQ(tile_inside(147, trips), 74);
  EXPECT_FALSE(is_uneven(3));
  EXPECT_EQ(trip_count(3), 3);
  EXPECT_EQ(tile_inside(147, 3), 49);
}

}  // namespace
}  // namespace sluice::fused
