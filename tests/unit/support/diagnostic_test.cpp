#include "sluice/support/diagnostic.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Diagnostic, ShowsTheLineWithACaret) {
  Diagnostic diagnostic;
  diagnostic.location = {"a.yaml", 3, 9};
  diagnostic.message = "unknown name 'B'";
  diagnostic.source_line = "  keep: B";
  diagnostic.hint = "did you mean 'A'?";
  EXPECT_EQ(to_string(diagnostic),
            "a.yaml:3:9: error: unknown name 'B'\n"
            "    keep: B\n"
            "          ^\n"
            "  hint: did you mean 'A'?\n");
}

TEST(Diagnostic, CutsAVeryLongLineAroundTheCaret) {
  Diagnostic diagnostic;
  diagnostic.location = {"a.yaml", 1, 5001};
  diagnostic.source_line = std::string(5000, 'x') + "!" + std::string(5000, 'x');
  const std::string text = to_string(diagnostic);
  EXPECT_LT(text.size(), 600U);
  const std::size_t line = text.find('\n') + 1;
  const std::size_t caret_line = text.find('\n', line) + 1;
  EXPECT_EQ(text.find('!') - line, text.find('^') - caret_line);
}

TEST(NearestName, FindsSlipsOfThePen) {
  EXPECT_EQ(nearest_name("objectve", {"objective", "epsilon"}), "objective");
  EXPECT_EQ(nearest_name("dram", {"GB", "DRAM"}), "DRAM");
  EXPECT_EQ(nearest_name("weigth", {"weight", "output"}), "weight");
  EXPECT_EQ(nearest_name("completely_else", {"weight", "output"}), "");
}

}  // namespace
}  // namespace sluice
