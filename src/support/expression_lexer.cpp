#include "support/expression_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "support/expression_units.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 13> kKeywords = {
    "if", "else", "and", "or", "not", "for", "in", "True", "False", "true", "false", "inf", "nan"};
// Longer symbols before their prefixes.
constexpr std::array<std::string_view, 21> kSymbols = {"**", "//", "<=", ">=", "==", "!=", "<",
                                                       ">",  "+",  "-",  "*",  "/",  "%",  "~",
                                                       "&",  "|",  "(",  ")",  "{",  "}",  ","};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_unit_character(char c) {
  return is_name_start(c) || is_digit(c) || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

Dimension divide(Dimension a, const Dimension& b) {
  a.joule -= b.joule;
  a.second -= b.second;
  a.bit -= b.bit;
  a.metre -= b.metre;
  a.cycle -= b.cycle;
  return a;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  tl::expected<std::vector<Token>, ExpressionError> run() {
    std::vector<Token> tokens;
    while (true) {
      skip_spaces();
      if (at_ >= text_.size()) break;
      auto token = next();
      if (!token) return tl::unexpected(token.error());
      tokens.push_back(*token);
    }
    tokens.push_back({.kind = TokenKind::kEnd, .text = {}, .offset = text_.size(), .number = {}});
    return tokens;
  }

 private:
  using MaybeToken = tl::expected<Token, ExpressionError>;

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  MaybeToken next() {
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (is_name_start(peek())) return name();
    for (const std::string_view symbol : kSymbols) {
      if (text_.substr(at_).starts_with(symbol)) {
        const std::size_t offset = at_;
        at_ += symbol.size();
        return Token{TokenKind::kSymbol, symbol, offset, {}};
      }
    }
    return tl::unexpected(ExpressionError{
        .message = fmt::format("unexpected character '{}' in an expression", text_.substr(at_, 1)),
        .offset = at_,
        .hint = {}});
  }

  MaybeToken name() {
    const std::size_t start = at_;
    while (is_name_start(peek()) || is_digit(peek()) || (peek() == '.' && is_name_start(peek(1))))
      ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word == "inf") {
      Token token{TokenKind::kNumber, word, start, {std::numeric_limits<double>::infinity(), {}}};
      return with_unit(token, {});
    }
    if (word == "nan")
      return tl::unexpected(
          ExpressionError{"NaN is not a value that can be computed with", start, {}});
    return Token{TokenKind::kName, word, start, {}};
  }

  MaybeToken number() {
    const std::size_t start = at_;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') ++at_;
    while (is_digit(peek())) ++at_;
    const std::size_t mantissa_end = at_;
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    Token token{TokenKind::kNumber, text_.substr(start, at_ - start), start, {}};
    return with_unit(token, token.text.substr(0, mantissa_end - start));
  }

  /// Reads `MiB`, `GB/s` behind a number; `mantissa` is empty for `inf`.
  MaybeToken with_unit(Token token, std::string_view mantissa) {
    auto unit = unit_behind();
    if (!unit) return tl::unexpected(unit.error());
    if (*unit) token.number.dimension = (**unit).dimension;
    if (mantissa.empty()) return token;
    const int exponent = *unit ? (**unit).decimal_exponent : 0;
    const double factor = *unit ? (**unit).factor : 1;
    const auto value = scaled(token.text, mantissa, exponent);
    if (!value || *value > std::numeric_limits<double>::max() / factor)
      return tl::unexpected(
          ExpressionError{fmt::format("the number '{}' is out of range", token.text.substr(0, 40)),
                          token.offset,
                          {}});
    token.number.value = *value * factor;
    return token;
  }

  /// The number's text times a power of ten, rounded once.
  static std::optional<double> scaled(std::string_view text, std::string_view mantissa,
                                      int exponent) {
    int written = 0;
    if (mantissa.size() < text.size()) {
      std::string_view digits = text.substr(mantissa.size() + 1);
      if (digits.starts_with('+')) digits.remove_prefix(1);
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), written);
      if (parsed.ec != std::errc() || std::abs(written) > 400) return std::nullopt;
    }
    const std::string whole = fmt::format("{}e{}", mantissa, written + exponent);
    double value = 0;
    const auto parsed = std::from_chars(whole.data(), whole.data() + whole.size(), value);
    if (parsed.ec != std::errc()) return std::nullopt;
    return value;
  }

  std::string_view unit_word() {
    std::size_t length = 0;
    while (is_unit_character(peek(length))) ++length;
    return text_.substr(at_, length);
  }

  tl::expected<std::optional<Unit>, ExpressionError> unit_behind() {
    const std::size_t before = at_;
    while (peek() == ' ') ++at_;
    const std::string_view word = unit_word();
    if (word.empty() || is_digit(word[0]) || is_expression_keyword(word)) {
      at_ = before;
      return std::optional<Unit>();
    }
    std::optional<Unit> unit = unit_from_name(word);
    if (!unit) return tl::unexpected(unknown_unit(word));
    at_ += word.size();
    while (peek() == '/') {
      ++at_;
      const std::string_view divisor_word = unit_word();
      const std::optional<Unit> divisor = unit_from_name(divisor_word);
      if (!divisor) {
        --at_;
        break;
      }
      at_ += divisor_word.size();
      unit->factor /= divisor->factor;
      unit->decimal_exponent -= divisor->decimal_exponent;
      unit->dimension = divide(unit->dimension, divisor->dimension);
    }
    return unit;
  }

  ExpressionError unknown_unit(std::string_view word) const {
    return {fmt::format("unknown unit '{}'", word), at_,
            "units are J, s, Hz, W, bit, B, m2, cycles with prefixes (pJ, ns, GHz, MiB, kB), "
            "divided by others (GB/s, pJ/bit)"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_expression_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

tl::expected<std::vector<Token>, ExpressionError> lex_expression(std::string_view text) {
  return Lexer(text).run();
}

}  // namespace sluice
