#include "onnx_graph/cascade/view.h"

#include <gmock/gmock.h>

namespace sluice::onnx_graph {
namespace {

using ::testing::ElementsAre;

/// A view of a whole tensor, a rank for each dimension.
View whole(const Shape& shape) {
  View view;
  for (const std::int64_t size : shape) {
    view.projection.push_back(Index::of(view.n_slots));
    view.dimensions.push_back({{view.n_slots++, size}});
  }
  return view;
}

TEST(View, ADimensionThatIsReadAsTwoIsTwoDigitsOfItsRank) {
  const auto heads = reshaped(whole({5, 12}), {5, 3, 4});
  ASSERT_TRUE(heads);
  EXPECT_THAT(shape_of(*heads), ElementsAre(5, 3, 4));
  const Index& index = heads->projection[1];  // 4·h + e
  ASSERT_EQ(index.terms.size(), 2U);
  EXPECT_EQ(index.terms[0].coefficient, 4);
  EXPECT_EQ(index.terms[1].coefficient, 1);
}

TEST(View, TwoDimensionsAsOneKeepTheirRanks) {
  const auto flat = reshaped(whole({2, 3, 4}), {2, 12});
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->dimensions[1].size(), 2U);
  EXPECT_THAT(shape_of(*flat), ElementsAre(2, 12));
}

TEST(View, ATransposedTensorOfFourTimesNineIsNoViewOfSixTimesSix) {
  EXPECT_FALSE(reshaped(transposed(whole({9, 4}), {1, 0}), {6, 6}));
}

TEST(View, ASliceMovesTheIndex) {
  const auto part = sliced(whole({9}), 0, 2, 3, 2);  // 2, 5
  ASSERT_TRUE(part);
  EXPECT_EQ(part->projection[0].constant, 2);
  EXPECT_EQ(part->projection[0].terms[0].coefficient, 3);
  EXPECT_THAT(shape_of(*part), ElementsAre(2));
}

TEST(View, OnePlaceOfADimensionOfDigitsIsAConstant) {
  const auto pair = reshaped(whole({12}), {3, 4});
  const auto flat = reshaped(*pair, {12});
  const auto place = sliced(*flat, 0, 7, 1, 1);  // 7 = 1·4 + 3
  ASSERT_TRUE(place);
  EXPECT_EQ(place->projection[0].constant, 7);
  EXPECT_TRUE(place->projection[0].terms.empty());
}

TEST(View, DigitsOfTwoListsMeetWhereTheirBordersDo) {
  EXPECT_THAT(*common_refinement({{12}, {3, 4}}), ElementsAre(3, 4));
  EXPECT_THAT(*common_refinement({{6, 2}, {3, 4}}), ElementsAre(3, 2, 2));
  EXPECT_FALSE(common_refinement({{6, 6}, {4, 9}}));
}

}  // namespace
}  // namespace sluice::onnx_graph
