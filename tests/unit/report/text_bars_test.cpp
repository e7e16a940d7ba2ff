#include "report/text/text_bars.h"

#include <gtest/gtest.h>

#include <iostream>

namespace sluice::cli {
namespace {

TEST(TextBars, DrawsEighthsOfAColumn) {
  EXPECT_EQ(bar(0.5, 4, false), "██  ");
  // 0.28125 of 4 columns = 1 1/8 columns.
  EXPECT_EQ(bar(0.28125, 4, false), "█▏  ");
  EXPECT_EQ(bar(0, 4, false), "    ");
}

TEST(TextBars, ShowsASliverOfTheSmallestShare) {
  EXPECT_EQ(bar(1e-9, 4, false), "▏   ");
  EXPECT_EQ(bar(1e-9, 4, true), "#   ");
}

TEST(TextBars, StaysInsideItsWidth) {
  EXPECT_EQ(bar(7, 4, false), "████");
  EXPECT_EQ(bar(7, 4, true), "####");
}

TEST(TextBars, CountsColumnsNotBytes) {
  EXPECT_EQ(text_columns("3 µs"), 4u);
  EXPECT_EQ(pad_left("µs", 4), "  µs");
}

TEST(TextBars, CutsRemarksToTheConsole) {
  Console console{std::cout, std::cerr};
  console.ascii = true;
  console.width = 60;
  const std::string chart =
      bar_chart(console, Ink::kBlue, {{"MAC", 1, "1 s", std::string(100, 'x')}});
  EXPECT_EQ(text_columns(chart), 60u + 1);
  EXPECT_NE(chart.find("..."), std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
