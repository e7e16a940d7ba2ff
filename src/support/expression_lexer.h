#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/expression_tree.h"

namespace sluice {

enum class TokenKind : std::uint8_t { kNumber, kName, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  ///< kSymbol: one of the operators; kName: keywords too
  std::size_t offset = 0;
  NumberLiteral number;  ///< kNumber: with its unit applied
};

/// Splits an expression; the last token is kEnd. Numbers swallow the unit that follows them.
tl::expected<std::vector<Token>, ExpressionError> lex_expression(std::string_view text);

}  // namespace sluice
