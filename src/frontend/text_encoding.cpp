#include "frontend/text_encoding.h"

#include <cstdint>

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

/// Numbers of `width` bytes, one after another; what is left at the end counts as one, too.
class Units {
 public:
  Units(std::string_view bytes, std::size_t width, bool big_endian)
      : bytes_(bytes), width_(width), big_endian_(big_endian) {}

  bool at_end() const { return at_ >= bytes_.size(); }

  std::uint32_t next() {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width_ && at_ + i < bytes_.size(); ++i) {
      const auto byte = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at_ + i]));
      value |= byte << 8 * (big_endian_ ? width_ - 1 - i : i);
    }
    at_ += width_;
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t width_;
  bool big_endian_;
  std::size_t at_ = 0;
};

std::string utf8_of_units(Units units) {
  std::string text;
  while (!units.at_end()) {
    std::uint32_t character = units.next();
    const bool is_first_of_pair = character >= 0xD800 && character < 0xDC00;
    if (is_first_of_pair && !units.at_end())
      character = 0x10000 + ((character - 0xD800) << 10U) + (units.next() - 0xDC00U) % 0x400U;
    append_utf8(text, character);
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
