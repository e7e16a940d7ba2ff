#include "referee/program/ledger.h"

#include <gtest/gtest.h>

namespace sluice::referee {
namespace {

TEST(ReservationTable, WhatAnOwnerReservesTwiceCountsOnce) {
  ReservationTable table;
  table.reserve(ComponentId(0), {}, 1, 8);
  table.reserve(ComponentId(0), {}, 1, 24);
  table.reserve(ComponentId(0), {}, 2, 16);
  table.release(ComponentId(0), {}, 1, 24);
  EXPECT_TRUE(table.usage(ComponentId(0)).is_balanced);
  EXPECT_EQ(table.usage(ComponentId(0)).peak_bits, 24 + 16);
}

// Triple 2,100,060,572: a run that had complained came to a release without its reservation.
TEST(ReservationTable, AReleaseOfWhatIsNotReservedCountsAsNothing) {
  ReservationTable table;
  table.reserve(ComponentId(0), {}, 1, 8);
  table.release(ComponentId(0), {}, 1, 16);
  EXPECT_FALSE(table.usage(ComponentId(0)).is_balanced);
  EXPECT_EQ(table.usage(ComponentId(0)).peak_bits, 8);
}

// 8 bits, then 20, then 8 of one owner, told afterwards; 16 of another one in the last part.
TEST(ReservationTable, ReservesFromOneMomentInThePastToAnother) {
  ReservationTable table;
  const std::size_t a = table.tick(), b = table.tick(), c = table.tick();
  table.reserve(ComponentId(0), {}, 2, 16);
  table.release(ComponentId(0), {}, 2, 16);
  const std::size_t d = table.tick();
  table.reserve_between(c, d, ComponentId(0), {}, 1, 8);
  table.reserve_between(b, c, ComponentId(0), {}, 1, 20);
  table.reserve_between(a, b, ComponentId(0), {}, 1, 8);
  EXPECT_TRUE(table.usage(ComponentId(0)).is_balanced);
  EXPECT_EQ(table.usage(ComponentId(0)).peak_bits, 8 + 16);
}

}  // namespace
}  // namespace sluice::referee
