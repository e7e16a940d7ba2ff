#include "support/printable_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace sluice {
namespace {

struct CodePoints {
  char32_t first, last;
};

/// Controls, marks that change the direction of text or break lines, and what is no character.
constexpr std::array<CodePoints, 12> kUnprintable = {{{0x00, 0x08},
                                                      {0x0B, 0x1F},
                                                      {0x7F, 0x9F},
                                                      {0x61C, 0x61C},
                                                      {0x200B, 0x200F},
                                                      {0x2028, 0x202E},
                                                      {0x2060, 0x206F},
                                                      {0xD800, 0xDFFF},
                                                      {0xFEFF, 0xFEFF},
                                                      {0xFFF0, 0xFFFB},
                                                      {0xFFFE, 0xFFFF},
                                                      {0xE0000, 0x10FFFF}}};

bool is_printable(char32_t character) {
  return std::none_of(kUnprintable.begin(), kUnprintable.end(), [&](const CodePoints& range) {
    return character >= range.first && character <= range.last;
  });
}

/// The character of `length` bytes at `at`, as a number.
char32_t code_point(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return byte(0);
  char32_t value = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) value = value << 6U | (byte(i) & 0x3FU);
  return value;
}

std::string escaped(std::string_view text, std::size_t at, std::size_t length) {
  const char32_t value = length == 0 ? 0 : code_point(text, at, length);
  if (length < 2) return fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
  const auto number = static_cast<unsigned>(value);
  return value < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

}  // namespace

std::size_t character_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) return 0;
  static constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const char32_t value = code_point(text, at, length);
  const bool is_character =
      value >= kSmallest[length] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
  return is_character ? length : 0;
}

std::optional<std::size_t> first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0 || !is_printable(code_point(text, at, length))) return at;
    at += length;
  }
  return std::nullopt;
}

std::string printable_text(std::string_view text) {
  std::string result;
  while (const auto at = first_unprintable(text)) {
    const std::size_t length = character_length(text, *at);
    result += text.substr(0, *at);
    result += escaped(text, *at, length);
    text.remove_prefix(*at + std::max<std::size_t>(length, 1));
  }
  result += text;
  return result;
}

}  // namespace sluice
