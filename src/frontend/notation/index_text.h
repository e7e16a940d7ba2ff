#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/notation/text_cursor.h"

namespace sluice {

/// constant + Σ coefficient · variable, by name.
struct IndexText {
  std::vector<std::pair<std::string, std::int64_t>> terms;  ///< in order of appearance, none zero
  std::int64_t constant = 0;
  std::size_t offset = 0;
  friend bool operator==(const IndexText& a, const IndexText& b) {
    return a.terms == b.terms && a.constant == b.constant;
  }
};

/// expression >= 0
struct BoundText {
  IndexText expression;
};

/// Values of the spec's variables.
using ConstantLookup = std::function<std::optional<double>(const std::string&)>;

/// `2*p + r - 1`. Names with a capital letter are variables of the spec, all others rank variables.
IndexText parse_index(TextCursor& cursor, const ConstantLookup& constants);

/// `0 <= r < 3`, several joined by `and`.
std::vector<BoundText> parse_bounds(std::string_view text, const ConstantLookup& constants);

}  // namespace sluice
