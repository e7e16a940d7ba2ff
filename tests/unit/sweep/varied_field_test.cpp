#include "sluice/sweep/varied_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(VariedField, MultipliesFromTheFirstValueToTheLast) {
  const VariedField field = *varied_field("arch.GlobalBuffer.size=16KiB..64KiB:x2");
  EXPECT_EQ(field.name, "arch.GlobalBuffer.size");
  EXPECT_THAT(field.values, ElementsAre("16KiB", "32KiB", "64KiB"));
  EXPECT_THAT(varied_field("B=512KiB..4MiB:x4")->values, ElementsAre("512KiB", "2048KiB"));
}

TEST(VariedField, AddsSteps) {
  EXPECT_THAT(varied_field("M=1..9:+4")->values, ElementsAre("1", "5", "9"));
  EXPECT_THAT(varied_field("B=0..1MiB:+512KiB")->values, ElementsAre("0", "4194304", "8388608"));
  EXPECT_THAT(varied_field("T=0.1..0.3:+0.1")->values, ElementsAre("0.1", "0.2", "0.3"));
}

TEST(VariedField, ListsValues) {
  EXPECT_THAT(varied_field("M=1,2,8 KiB")->values, ElementsAre("1", "2", "8 KiB"));
}

std::string refused_value(const std::string& text) {
  const auto field = varied_field(text);
  if (field) return "";
  EXPECT_THAT(field.error().front().hint, HasSubstr("NAME=16KiB..64MiB:x2"));
  return field.error().front().message;
}

TEST(VariedField, SaysWhatIsWrong) {
  EXPECT_THAT(refused_value("M"), HasSubstr("`--vary M` gives no values"));
  EXPECT_THAT(refused_value("M="), HasSubstr("gives no values"));
  EXPECT_THAT(refused_value("M=1,,2"), HasSubstr("an empty value"));
  EXPECT_THAT(refused_value("M=1..8"), HasSubstr("does not say the step"));
  EXPECT_THAT(refused_value("M=1..8:2"), HasSubstr("does not say the step"));
  for (const char* text : {"M=a..8:x2", "M=1..b:x2", "M=16+3..64:x2"})
    EXPECT_THAT(refused_value(text), HasSubstr("no number")) << text;
  for (const char* text : {"M=8..1:x2", "M=1..8:x1", "M=0..8:x2", "M=1..8:+0", "M=1..8:xKiB"})
    EXPECT_THAT(refused_value(text), HasSubstr("has no value")) << text;
  EXPECT_THAT(refused_value("M=1..1000000:+1"), HasSubstr("more than 1000 values"));
}

TEST(DrawnRange, IsWholeWhereItsEndsAre) {
  const DrawnRange range = *drawn_range("1..9", "M");
  EXPECT_EQ(range.at(0.5), "5");   // 1 + 0.5 × 9 = 5.5: each of nine numbers has a ninth
  EXPECT_EQ(range.at(0.55), "5");  // 1 + 0.55 × 9 = 5.95
  EXPECT_EQ(range.at(0), "1");
  EXPECT_EQ(range.at(0.999), "9");
  EXPECT_EQ(drawn_range("0.5..1.5", "M")->at(0.25), "0.75");
}

TEST(DrawnRange, GoesUpByFactorsWhereItIsLogarithmic) {
  const DrawnRange range = *drawn_range("1KiB..1MiB:log", "B");
  EXPECT_EQ(range.at(0), "1KiB");
  EXPECT_EQ(range.at(0.5), "32KiB");  // sqrt(1 × 1024)
  EXPECT_FALSE(drawn_range("0..8:log", "B"));
  EXPECT_FALSE(drawn_range("8..1", "B"));
  EXPECT_FALSE(drawn_range("1,2", "B"));
}

}  // namespace
}  // namespace sluice
