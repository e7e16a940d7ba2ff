#include <gtest/gtest.h>

#include <vector>

#include "model/lattice/row_allocator.h"

namespace sluice {
namespace {

using Row = std::vector<double, RowAllocator<double>>;

TEST(RowAllocator, MakesRowsLikeAnyOther) {
  Row row(100, 2.5);
  EXPECT_EQ(row, Row(100, 2.5));
  row.push_back(1);
  const Row copy = row;
  EXPECT_EQ(copy.size(), 101u);
  EXPECT_EQ(copy.front(), 2.5);
  EXPECT_EQ(copy.back(), 1);
  row.resize(5000);
  EXPECT_EQ(row[100], 1);
}

TEST(FreeRows, HandsOutAgainWhatIsLargeEnough) {
  FreeRows rows;
  void* first = rows.take(1000);
  rows.give_back(first, 1000);
  EXPECT_EQ(rows.take(600), first);  // 1,024 bytes hold it
  void* other = rows.take(1000);     // none is free
  EXPECT_NE(other, first);
  rows.give_back(other, 1000);
  void* small = rows.take(100);
  EXPECT_NE(small, other);
  rows.give_back(small, 100);
  rows.give_back(first, 600);
  void* huge = rows.take(std::size_t{1} << 25U);  // more than is kept
  rows.give_back(huge, std::size_t{1} << 25U);
}

}  // namespace
}  // namespace sluice
