#include "kapla/blocking/set_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::kapla {
namespace {

using ::testing::ElementsAreArray;

// list(set(...)) in CPython 3.11
TEST(SetOrder, IsThatOfPython) {
  EXPECT_THAT(in_set_order({{1, 2, 1}, {2, 1, 1}}),
              ElementsAreArray(std::vector<Triple>{{1, 2, 1}, {2, 1, 1}}));
  EXPECT_THAT(in_set_order({{2, 1, 8}, {4, 1, 4}}),
              ElementsAreArray(std::vector<Triple>{{4, 1, 4}, {2, 1, 8}}));
  EXPECT_THAT(in_set_order({{8, 4, 32}, {128, 2, 1}, {128, 16, 8}}),
              ElementsAreArray(std::vector<Triple>{{8, 4, 32}, {128, 2, 1}, {128, 16, 8}}));
  EXPECT_THAT(in_set_order({{8, 128, 128}, {64, 4, 8}, {4, 64, 1}, {2, 4, 1}, {16, 1, 16}}),
              ElementsAreArray(std::vector<Triple>{
                  {4, 64, 1}, {2, 4, 1}, {16, 1, 16}, {8, 128, 128}, {64, 4, 8}}));
  EXPECT_THAT(
      in_set_order(
          {{128, 64, 64}, {64, 128, 4}, {32, 2, 1}, {4, 128, 8}, {16, 64, 16}, {64, 64, 32}}),
      ElementsAreArray(std::vector<Triple>{
          {4, 128, 8}, {128, 64, 64}, {64, 128, 4}, {16, 64, 16}, {64, 64, 32}, {32, 2, 1}}));
  EXPECT_THAT(
      in_set_order({{64, 8, 32}, {1, 16, 4}, {32, 2, 8}, {16, 16, 2}, {2, 128, 128}, {2, 32, 2}}),
      ElementsAreArray(std::vector<Triple>{
          {2, 128, 128}, {1, 16, 4}, {64, 8, 32}, {2, 32, 2}, {32, 2, 8}, {16, 16, 2}}));
}

}  // namespace
}  // namespace sluice::kapla
