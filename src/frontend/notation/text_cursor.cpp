#include "frontend/notation/text_cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace sluice {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & '\x80') != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void TextCursor::skip_spaces() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
    ++at_;
}

std::size_t TextCursor::offset() {
  skip_spaces();
  return at_;
}

bool TextCursor::at_end() { return offset() >= text_.size(); }

char TextCursor::peek() { return at_end() ? '\0' : text_[at_]; }

bool TextCursor::accept(std::string_view symbol) {
  skip_spaces();
  if (!text_.substr(at_).starts_with(symbol)) return false;
  at_ += symbol.size();
  return true;
}

void TextCursor::expect(std::string_view symbol) {
  if (!accept(symbol)) fail(fmt::format("'{}' expected before {}", symbol, upcoming()));
}

std::string_view TextCursor::word() {
  skip_spaces();
  const std::size_t start = at_;
  if (at_ < text_.size() && is_letter(text_[at_]))
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  return text_.substr(start, at_ - start);
}

std::optional<double> TextCursor::number() {
  skip_spaces();
  if (at_ >= text_.size() || !(is_digit(text_[at_]) || text_[at_] == '.')) return std::nullopt;
  double value = 0;
  const char* begin = text_.data() + at_;
  const auto parsed = std::from_chars(begin, text_.data() + text_.size(), value);
  if (parsed.ec != std::errc()) fail("a number out of range");
  at_ += static_cast<std::size_t>(parsed.ptr - begin);
  return value;
}

std::string TextCursor::upcoming() {
  if (at_end()) return "the end";
  const std::size_t start = at_;
  std::string_view next = word();
  if (next.empty()) next = text_.substr(start, 1);
  at_ = start;
  return fmt::format("'{}'", next);
}

void TextCursor::fail(std::string message, std::string hint) {
  fail_at(offset(), std::move(message), std::move(hint));
}

void TextCursor::fail_at(std::size_t offset, std::string message, std::string hint) {
  throw ExpressionError{std::move(message), offset, std::move(hint)};
}

}  // namespace sluice
