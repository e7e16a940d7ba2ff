#include "frontend/yaml/text_encoding.h"

#include <gtest/gtest.h>

#include "unit/frontend/loading.h"

namespace sluice {
namespace {

constexpr char kText[] = "workload: {name: \"\u00e9\U0001d11e\"}";  // two and four bytes of UTF-8

enum class Order { kLittle, kBig };

/// The code points as UTF-16 or UTF-32 with a byte-order mark.
template <class Unit>
std::string encoded(std::basic_string_view<Unit> text, Order order) {
  std::string bytes;
  const auto add = [&](Unit unit) {
    for (std::size_t i = 0; i < sizeof(Unit); ++i) {
      const std::size_t byte = order == Order::kLittle ? i : sizeof(Unit) - 1 - i;
      bytes += static_cast<char>(static_cast<std::uint32_t>(unit) >> 8 * byte & 0xFFU);
    }
  };
  add(Unit(0xFEFF));
  for (const Unit unit : text) add(unit);
  return bytes;
}

TEST(TextEncoding, ReadsUtf16AndUtf32InBothOrders) {
  const std::u16string_view of_16 = u"workload: {name: \"\u00e9\U0001d11e\"}";
  const std::u32string_view of_32 = U"workload: {name: \"\u00e9\U0001d11e\"}";
  for (const Order order : {Order::kLittle, Order::kBig}) {
    EXPECT_EQ(utf8_of(encoded(of_16, order)), kText);
    EXPECT_EQ(utf8_of(encoded(of_32, order)), kText);
  }
  EXPECT_EQ(utf8_of(std::string("\xEF\xBB\xBF") + kText), kText);
  EXPECT_EQ(utf8_of(kText), kText);
}

TEST(TextEncoding, LoadsSpecsInUtf16) {
  const Workload w = workload_of(encoded<char16_t>(
      u"workload:\n  rank_sizes: {M: 4}\n  bits_per_value: {All: 8}\n  einsums: [\"Z[m] = A[m]\"]",
      Order::kLittle));
  EXPECT_EQ(rank_size(w, "M"), 4);
}

// Half of a pair before a letter, before the end, without its first half; half of a unit; what is
// beyond the last character.
TEST(TextEncoding, RefusesWhatIsNoCharacter) {
  using namespace std::string_literals;
  for (const std::string& bytes : {"\xFF\xFE\0\xD8"s
                                   "a\0"s,
                                   "\xFF\xFE"s
                                   "a\0"s
                                   "\0\xD8"s,
                                   "\xFF\xFE\0\xDC"s
                                   "a\0"s,
                                   "\xFF\xFE"s
                                   "a\0b"s,
                                   "\xFF\xFE\0\0\0\0\x11\0"s, "\xFF\xFE\0\0\0\xD8\0\0"s}) {
    EXPECT_NE(first_byte_that_is_no_text(utf8_of(bytes)), std::string::npos) << bytes;
    EXPECT_EQ(mistake_of(bytes), "this is no text file: byte 0xff is no character of UTF-8 text");
  }
}

}  // namespace
}  // namespace sluice
