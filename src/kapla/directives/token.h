#pragma once

#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"

namespace sluice::kapla {

/// A name, a number or a sign of a directives text. The last one is kEnd.
struct Token {
  enum class Kind { kName, kNumber, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  int line = 0;
  int column = 0;
};

/// Splits a text; `#` begins a comment. Characters that begin no token are signs of their own.
std::vector<Token> tokens_of(const std::string& text);

}  // namespace sluice::kapla
