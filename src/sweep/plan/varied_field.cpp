#include "sluice/sweep/varied_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "sluice/support/expression.h"
#include "sluice/support/failed.h"

namespace sluice {
namespace {

constexpr std::size_t kMostValues = 1000;
constexpr const char* kForms =
    "write NAME=16KiB..64MiB:x2, NAME=1..9:+2 or NAME=1,2,8 (the steps go from the first value on)";

/// A number and the unit behind it: `1.5` and `KiB`.
struct Amount {
  double number = 0;
  std::string unit;
  double value = 0;  ///< in SI units
};

std::optional<Amount> amount_of(std::string_view text) {
  Amount amount;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number);
  if (error != std::errc() || !std::isfinite(amount.number)) return std::nullopt;
  amount.unit = std::string(text.substr(static_cast<std::size_t>(end - text.data())));
  const auto parsed = Expression::parse(text);
  const auto value = parsed ? parsed->constant() : std::nullopt;
  if (!value || !std::isfinite(*value)) return std::nullopt;
  for (const char c : amount.unit)  // `3+4` and the like are no amounts
    if (std::string_view("+-*%()<>=").find(c) != std::string_view::npos) return std::nullopt;
  amount.value = *value;
  return amount;
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

/// Steps from `first` to `last`; empty where the text is no range.
std::vector<std::string> stepped(const Amount& first, const Amount& last, const std::string& step) {
  const bool multiplies = step[0] == 'x' || step[0] == '*';
  const auto by = amount_of(std::string_view(step).substr(1));
  if (!by ||
      (multiplies ? by->number <= 1 || !by->unit.empty() || first.number <= 0 : by->value <= 0))
    return {};
  const auto unit = amount_of("1" + first.unit);
  std::vector<std::string> values;
  const double limit = last.value + 1e-9 * std::abs(last.value);
  for (std::size_t i = 0; values.size() <= kMostValues; ++i) {
    const double number = multiplies
                              ? first.number * std::pow(by->number, static_cast<double>(i))
                              : first.number + static_cast<double>(i) * by->value / unit->value;
    if (number * unit->value > limit) break;
    values.push_back(fmt::format("{:.15g}{}", number, first.unit));
  }
  return values;
}

tl::unexpected<Diagnostics> refusal(const std::string& subject, const std::string& why,
                                    const std::string& hint) {
  return failed(fmt::format("`{}` {}", subject, why), hint);
}

/// The text behind `..` up to a colon, and what follows that.
struct RangeText {
  std::string first, last, behind;
};

std::optional<RangeText> range_text(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const std::size_t colon = std::min(text.find(':', dots), text.size());
  return RangeText{text.substr(0, dots), text.substr(dots + 2, colon - dots - 2),
                   colon < text.size() ? text.substr(colon + 1) : ""};
}

}  // namespace

bool lists_values(const std::string& text) {
  const auto range = range_text(text);
  return !range || (!range->behind.empty() && range->behind != "log");
}

std::optional<double> amount_of_value(const std::string& text) {
  const auto amount = amount_of(text);
  return amount ? std::optional(amount->value) : std::nullopt;
}

Result<std::vector<std::string>> varied_values(const std::string& text,
                                               const std::string& subject) {
  const auto refuse = [&](const std::string& why) { return refusal(subject, why, kForms); };
  std::vector<std::string> values;
  if (const auto range = range_text(text)) {
    const std::string& step = range->behind;
    if (step.size() < 2 || (step[0] != 'x' && step[0] != '*' && step[0] != '+'))
      return refuse("does not say the step");
    const auto first = amount_of(range->first), last = amount_of(range->last);
    if (!first || !last) return refuse("has an end that is no number");
    values = stepped(*first, *last, step);
    if (values.empty()) return refuse("has no value: the steps do not go up to the last one");
  } else {
    values = listed(text);
    for (const std::string& value : values)
      if (value.empty()) return refuse("has an empty value");
  }
  if (values.size() > kMostValues)
    return refuse(fmt::format("has more than {} values", kMostValues));
  return values;
}

Result<VariedField> varied_field(const std::string& text) {
  const std::string subject = "--vary " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return refusal(subject, "gives no values", kForms);
  auto values = varied_values(text.substr(equals + 1), subject);
  if (!values) return tl::unexpected(std::move(values.error()));
  return VariedField{text.substr(0, equals), std::move(*values), {subject}};
}

Result<DrawnRange> drawn_range(const std::string& text, const std::string& subject) {
  constexpr const char* kRanges = "write FIRST..LAST or FIRST..LAST:log, or a list of values";
  const auto range = range_text(text);
  if (!range || (!range->behind.empty() && range->behind != "log"))
    return refusal(subject, "is no range to draw from", kRanges);
  const auto first = amount_of(range->first), last = amount_of(range->last);
  if (!first || !last) return refusal(subject, "has an end that is no number", kRanges);
  const bool is_logarithmic = !range->behind.empty();
  if (!(first->value < last->value))
    return refusal(subject, "has its ends in the wrong order", kRanges);
  if (is_logarithmic && first->value <= 0)
    return refusal(subject, "has no logarithm at its first end", kRanges);
  const double unit = amount_of("1" + first->unit)->value;
  return DrawnRange{first->number, last->value / unit, first->unit, is_logarithmic};
}

std::string DrawnRange::at(double share) const {
  const bool is_whole = first == std::floor(first) && last == std::floor(last);
  const double end = is_whole ? last + 1 : last;  // each whole number has a part of its own
  double value =
      is_logarithmic ? first * std::pow(end / first, share) : first + share * (end - first);
  if (is_whole) value = std::clamp(std::floor(value), first, last);
  return fmt::format("{:.6g}{}", value, unit);
}

}  // namespace sluice
