#include "sluice/support/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string mistakes(const std::string& text, const std::vector<std::string>& columns = {"a"}) {
  const auto table = read_csv(text, "t.csv", columns);
  return table ? "" : to_string(table.error());
}

TEST(Csv, KeepsLineNumbersAndQuotedCells) {
  const auto table = read_csv("a,b\n1,\"x, \"\"y\"\"\nz\"\n\n3,4\r\n", "t.csv", {"a", "b"});
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 2);
  EXPECT_THAT(table->rows[0].cells, ElementsAre("1", "x, \"y\"\nz"));
  EXPECT_EQ(table->rows[1].line, 5);  // the quoted cell takes lines 2 and 3, line 4 is empty
  EXPECT_THAT(table->rows[1].cells, ElementsAre("3", "4"));
}

TEST(Csv, SaysWhichColumnIsMissing) {
  EXPECT_THAT(mistakes("layers,b\n", {"layer"}),
              HasSubstr("t.csv:1: error: there is no column `layer`"));
  EXPECT_THAT(mistakes("layers,b\n", {"layer"}), HasSubstr("is it the one named `layers`?"));
}

TEST(Csv, SaysWhichRowHasOtherCells) {
  EXPECT_THAT(mistakes("a,b\n1,2\n1\n"),
              HasSubstr("t.csv:3: error: this row has 1 cells; the header has 2"));
}

TEST(Csv, SaysWhatElseIsWrong) {
  EXPECT_THAT(mistakes(""), HasSubstr("the file is empty"));
  EXPECT_THAT(mistakes("a,a\n"), HasSubstr("two columns are named `a`"));
  EXPECT_THAT(mistakes("a\n\"x\n"),
              HasSubstr("t.csv:2: error: a quotation mark here is never closed"));
}

}  // namespace
}  // namespace sluice
