#include "frontend/yaml/text_encoding.h"

#include <cstdint>
#include <optional>

#include "support/printable_text.h"

namespace sluice {
namespace {

void append_utf8(std::string& text, std::uint32_t character) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](unsigned shift) { add(0x80U | ((character >> shift) & 0x3FU)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0U | character >> 6U);
    add_rest(0);
  } else if (character < 0x10000) {
    add(0xE0U | character >> 12U);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0U | (character >> 18U & 7U));
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

constexpr std::uint32_t kNoCharacter = 0xFFFFFFFF;
constexpr char kNoUtf8 = '\xFF';

bool is_character(std::uint32_t value) {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

/// Numbers of `width` bytes, one after another.
class Units {
 public:
  Units(std::string_view bytes, std::size_t width, bool big_endian)
      : bytes_(bytes), width_(width), big_endian_(big_endian) {}

  bool at_end() const { return at_ >= bytes_.size(); }

  /// None where the bytes end inside it.
  std::optional<std::uint32_t> next() {
    const std::size_t start = at_;
    at_ += width_;
    if (at_ > bytes_.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width_; ++i) {
      const auto byte = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[start + i]));
      value |= byte << 8 * (big_endian_ ? width_ - 1 - i : i);
    }
    return value;
  }

  /// The next one if it is the second half of a pair of UTF-16; else it stays the next one.
  std::optional<std::uint32_t> second_of_pair() {
    const std::size_t start = at_;
    const auto value = next();
    if (value && *value >= 0xDC00 && *value < 0xE000) return value;
    at_ = start;
    return std::nullopt;
  }

 private:
  std::string_view bytes_;
  std::size_t width_;
  bool big_endian_;
  std::size_t at_ = 0;
};

/// Half of a pair, or a unit that is cut off or no character, becomes a byte that no UTF-8 text
/// has.
std::string utf8_of_units(Units units) {
  std::string text;
  while (!units.at_end()) {
    std::uint32_t character = units.next().value_or(kNoCharacter);
    if (character >= 0xD800 && character < 0xDC00) {
      const std::uint32_t second = units.second_of_pair().value_or(kNoCharacter);
      character = second == kNoCharacter
                      ? second
                      : 0x10000 + ((character - 0xD800) << 10U) + second - 0xDC00;
    }
    if (is_character(character))
      append_utf8(text, character);
    else
      text += kNoUtf8;
  }
  return text;
}

}  // namespace

std::string utf8_of(std::string bytes) {
  using namespace std::string_view_literals;
  const std::string_view text = bytes;
  if (text.starts_with("\xEF\xBB\xBF"sv)) return bytes.substr(3);
  if (text.starts_with("\xFF\xFE\0\0"sv)) return utf8_of_units({text.substr(4), 4, false});
  if (text.starts_with("\0\0\xFE\xFF"sv)) return utf8_of_units({text.substr(4), 4, true});
  if (text.starts_with("\xFF\xFE"sv)) return utf8_of_units({text.substr(2), 2, false});
  if (text.starts_with("\xFE\xFF"sv)) return utf8_of_units({text.substr(2), 2, true});
  return bytes;
}

std::size_t first_byte_that_is_no_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    if (length == 0 || is_control || byte == 0x7F) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace sluice
