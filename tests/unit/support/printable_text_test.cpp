#include "support/printable_text.h"

#include <gtest/gtest.h>

#include "sluice/support/diagnostic.h"

namespace sluice {
namespace {

TEST(PrintableText, LeavesTextsOfAllLanguagesAsTheyAre) {
  const std::string text = "µs × 3, Größe, 大きさ, \U0001F4A9, \uFFFD,\ttab\nend";
  EXPECT_EQ(printable_text(text), text);
}

TEST(PrintableText, EscapesControlCharactersAndMarksThatReorderText) {
  EXPECT_EQ(printable_text("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable_text(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable_text("\x7f\r"), "\\x7f\\x0d");
  EXPECT_EQ(printable_text("\xC2\x9B"), "\\u009b");  // the one-character form of ESC [
  EXPECT_EQ(printable_text("\u202egnirts"), "\\u202egnirts");
}

TEST(PrintableText, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable_text("caf\xE9"), "caf\\xe9");
  EXPECT_EQ(printable_text("\xC3("), "\\xc3(");
  EXPECT_EQ(printable_text("\xC0\xAF"), "\\xc0\\xaf");           // '/' in two bytes
  EXPECT_EQ(printable_text("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
  EXPECT_EQ(printable_text("\xF0\x9F\x92"), "\\xf0\\x9f\\x92");  // cut short
}

TEST(PrintableText, IsWhatADiagnosticPrintsOfMessageLineFileAndHint) {
  Diagnostic diagnostic;
  diagnostic.location = {"a\x1b.yaml", 1, 4};
  diagnostic.message = "unknown '\x07'";
  diagnostic.source_line = "\x1b\xFFxy";
  diagnostic.hint = "did you mean '\x01'?";
  EXPECT_EQ(to_string(diagnostic),
            "a\\x1b.yaml:1:4: error: unknown '\\x07'\n"
            "  \\x1b\\xffxy\n"
            "           ^\n"  // below y: two escapes of four characters and x before it
            "  hint: did you mean '\\x01'?\n");
}

}  // namespace
}  // namespace sluice
