#include "frontend/notation/index_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/support/checked.h"

namespace sluice {
namespace {

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 40U;
constexpr int kDeepestIndex = 32;

class IndexParser {
 public:
  IndexParser(TextCursor& cursor, const ConstantLookup& constants)
      : cursor_(cursor), constants_(constants) {}

  IndexText sum() {
    if (++depth_ > kDeepestIndex) cursor_.fail("an index expression nested too deeply");
    IndexText total;
    total.offset = cursor_.offset();
    std::int64_t sign = cursor_.accept("-") ? -1 : 1;
    while (true) {
      add(total, product(), sign);
      if (cursor_.accept("+"))
        sign = 1;
      else if (cursor_.accept("-"))
        sign = -1;
      else
        break;
    }
    std::erase_if(total.terms, [](const auto& term) { return term.second == 0; });
    --depth_;
    return total;
  }

 private:
  static bool is_constant(const IndexText& text) { return text.terms.empty(); }

  void add(IndexText& total, const IndexText& part, std::int64_t factor) {
    total.constant = bounded(checked_add(total.constant, checked_multiply(factor, part.constant)));
    for (const auto& [name, coefficient] : part.terms) {
      const auto known = std::find_if(total.terms.begin(), total.terms.end(),
                                      [&](const auto& term) { return term.first == name; });
      const std::int64_t scaled = checked_multiply(factor, coefficient);
      if (known == total.terms.end())
        total.terms.emplace_back(name, bounded(scaled));
      else
        known->second = bounded(checked_add(known->second, scaled));
    }
  }

  std::int64_t bounded(std::int64_t value) {
    if (std::abs(value) > kLargestNumber) cursor_.fail("a number in an index is too large");
    return value;
  }

  IndexText product() {
    IndexText left = factor();
    while (cursor_.accept("*")) {
      const std::size_t offset = cursor_.offset();
      const IndexText right = factor();
      if (!is_constant(left) && !is_constant(right))
        TextCursor::fail_at(offset, "an index is a sum of variables times numbers",
                            "two variables cannot be multiplied");
      IndexText result;
      result.offset = left.offset;
      if (is_constant(left))
        add(result, right, left.constant);
      else
        add(result, left, right.constant);
      left = result;
    }
    return left;
  }

  IndexText factor() {
    IndexText result;
    result.offset = cursor_.offset();
    if (cursor_.accept("(")) {
      result = sum();
      cursor_.expect(")");
      return result;
    }
    if (const auto number = cursor_.number()) {
      result.constant = whole(*number, result.offset);
      return result;
    }
    const std::string name(cursor_.word());
    if (name.empty())
      cursor_.fail(fmt::format("an index is expected before {}", cursor_.upcoming()));
    const bool capital =
        std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!capital) {
      result.terms.emplace_back(name, 1);
      return result;
    }
    const auto value = constants_ ? constants_(name) : std::nullopt;
    if (!value)
      TextCursor::fail_at(result.offset, fmt::format("'{}' is no variable of the spec", name),
                          "rank variables are written in small letters");
    result.constant = whole(*value, result.offset);
    return result;
  }

  static std::int64_t whole(double value, std::size_t offset) {
    if (value != std::floor(value) || std::abs(value) > static_cast<double>(kLargestNumber))
      TextCursor::fail_at(offset,
                          fmt::format("{} is no whole number that an index could be", value));
    return static_cast<std::int64_t>(value);
  }

  TextCursor& cursor_;
  const ConstantLookup& constants_;
  int depth_ = 0;
};

enum class Relation { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual };

std::optional<Relation> accept_relation(TextCursor& cursor) {
  if (cursor.accept("<=")) return Relation::kLessEqual;
  if (cursor.accept(">=")) return Relation::kGreaterEqual;
  if (cursor.accept("==") || cursor.accept("=")) return Relation::kEqual;
  if (cursor.accept("<")) return Relation::kLess;
  if (cursor.accept(">")) return Relation::kGreater;
  return std::nullopt;
}

/// larger - smaller - strictly >= 0
BoundText at_least(const IndexText& larger, const IndexText& smaller, std::int64_t strictly) {
  BoundText bound{larger};
  for (const auto& [name, coefficient] : smaller.terms) {
    const auto known = std::find_if(bound.expression.terms.begin(), bound.expression.terms.end(),
                                    [&](const auto& term) { return term.first == name; });
    if (known == bound.expression.terms.end())
      bound.expression.terms.emplace_back(name, -coefficient);
    else
      known->second -= coefficient;
  }
  bound.expression.constant -= smaller.constant + strictly;
  std::erase_if(bound.expression.terms, [](const auto& term) { return term.second == 0; });
  return bound;
}

void add_bounds(std::vector<BoundText>& bounds, const IndexText& left, Relation relation,
                const IndexText& right) {
  switch (relation) {
    case Relation::kLess:
      bounds.push_back(at_least(right, left, 1));
      break;
    case Relation::kLessEqual:
      bounds.push_back(at_least(right, left, 0));
      break;
    case Relation::kGreater:
      bounds.push_back(at_least(left, right, 1));
      break;
    case Relation::kGreaterEqual:
      bounds.push_back(at_least(left, right, 0));
      break;
    case Relation::kEqual:
      bounds.push_back(at_least(left, right, 0));
      bounds.push_back(at_least(right, left, 0));
      break;
  }
}

}  // namespace

IndexText parse_index(TextCursor& cursor, const ConstantLookup& constants) {
  return IndexParser(cursor, constants).sum();
}

std::vector<BoundText> parse_bounds(std::string_view text, const ConstantLookup& constants) {
  TextCursor cursor(text);
  std::vector<BoundText> bounds;
  do {
    IndexText left = parse_index(cursor, constants);
    auto relation = accept_relation(cursor);
    if (!relation) cursor.fail("a bound is a comparison", "for example '0 <= r < 3'");
    while (relation) {
      const IndexText right = parse_index(cursor, constants);
      add_bounds(bounds, left, *relation, right);
      left = right;
      relation = accept_relation(cursor);
    }
  } while (cursor.accept("and"));
  if (!cursor.at_end()) cursor.fail(fmt::format("unexpected {} in a bound", cursor.upcoming()));
  return bounds;
}

}  // namespace sluice
