#include "sluice/support/human_units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sluice {
namespace {

TEST(HumanUnits, ShowsThreeDigitsAndAPrefix) {
  EXPECT_EQ(human_si(22.154, "J"), "22.2 J");
  EXPECT_EQ(human_si(3.41e-6, "s"), "3.41 µs");
  EXPECT_EQ(human_si(614e9, "/s"), "614 G/s");
  EXPECT_EQ(human_si(0, "J"), "0 J");
}

TEST(HumanUnits, RoundsUpIntoTheNextPrefix) { EXPECT_EQ(human_si(0.99999, "s"), "1.00 s"); }

TEST(HumanUnits, KeepsToAsciiWhereAsked) { EXPECT_EQ(human_si(3.41e-6, "s", true), "3.41 us"); }

TEST(HumanUnits, UsesAnExponentBeyondThePrefixes) {
  EXPECT_EQ(human_si(1.25e-20, "J"), "12.5 zJ");
  EXPECT_EQ(human_si(1e-27, "J"), "1 rJ");
  EXPECT_EQ(human_si(1e30, "J"), "1 QJ");
  EXPECT_EQ(human_si(2.5e-34, "J"), "2.50e-34 J");
  EXPECT_EQ(human_si(1e33, "J"), "1.00e+33 J");
  EXPECT_EQ(human_si(std::numeric_limits<double>::infinity(), "s"), "inf s");
}

TEST(HumanUnits, KnowsOneZeroOnly) {
  EXPECT_EQ(human_si(-0.0, "J"), "0 J");
  EXPECT_EQ(human_size(-0.0), "0 B");
  EXPECT_EQ(human_count(-0.0), "0");
  EXPECT_EQ(human_percent(-0.0), "0.0 %");
}

TEST(HumanUnits, TellsBitsFromBytes) {
  EXPECT_EQ(human_size(0.001), "1 mbit");
  EXPECT_EQ(human_size(8 * 0x1p80), "1 YiB");
  EXPECT_EQ(human_size(8e30), "1.00e+30 B");  // beyond 1024 YiB
  EXPECT_EQ(human_size(12), "12 bit");
  EXPECT_EQ(human_size(64), "8 B");
  EXPECT_EQ(human_size(1536.0 * 8), "1.50 KiB");
  EXPECT_EQ(human_size(128.0 * 1024 * 1024 * 8), "128 MiB");
}

TEST(HumanUnits, CountsWithThousandsThenPrefixes) {
  EXPECT_EQ(human_count(12), "12");
  EXPECT_EQ(human_count(3500), "3,500");
  EXPECT_EQ(human_count(999'999), "1.00 M");
  EXPECT_EQ(human_count(2.1e6), "2.10 M");
  EXPECT_EQ(human_count(3.4e18), "3.40e+18");
}

TEST(HumanUnits, ShowsSmallSharesToo) {
  EXPECT_EQ(human_percent(0.54), "54.0 %");
  EXPECT_EQ(human_percent(std::nan("")), "-");
  EXPECT_EQ(human_percent(0.0003), "0.03 %");
}

TEST(HumanUnits, ASizeThatIsNeededIsRoundedUp) {
  EXPECT_EQ(human_size_at_least(12), "12 bit");
  EXPECT_EQ(human_size_at_least(11.5), "12 bit");
  EXPECT_EQ(human_size_at_least(8 * 1000), "1000 B");
  EXPECT_EQ(human_size_at_least(8 * 1023), "1023 B");
  EXPECT_EQ(human_size_at_least(8 * 11264), "11 KiB");
  EXPECT_EQ(human_size(8 * 1056), "1.03 KiB");  // 1,054.72 bytes
  EXPECT_EQ(human_size_at_least(8 * 1056), "1.04 KiB");
  EXPECT_EQ(human_size_at_least(8 * (100 * 1024 + 1)), "101 KiB");
  EXPECT_EQ(human_size_at_least(8 * (12.5 * 1024)), "12.5 KiB");
  EXPECT_EQ(human_size_at_least(8 * (1024 * 1024 - 1)), "1 MiB");
}

}  // namespace
}  // namespace sluice
