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

}  // namespace
}  // namespace sluice::referee
