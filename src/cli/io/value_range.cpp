#include "value_range.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "failure.h"
#include "sluice/support/expression.h"

namespace sluice::cli {
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

}  // namespace

VariedField varied_field(const std::string& text) {
  const auto refuse = [&](const std::string& why) -> VariedField {
    throw Failure(ExitCode::kBadInput, fmt::format("`--vary {}` {}", text, why), kForms);
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return refuse("gives no values");
  VariedField field{text.substr(0, equals), {}};
  const std::string values = text.substr(equals + 1);
  const std::size_t dots = values.find("..");
  if (dots == std::string::npos) {
    field.values = listed(values);
    for (const std::string& value : field.values)
      if (value.empty()) return refuse("has an empty value");
  } else {
    const std::size_t colon = values.find(':', dots);
    if (colon == std::string::npos || colon + 2 >= values.size() ||
        (values[colon + 1] != 'x' && values[colon + 1] != '*' && values[colon + 1] != '+'))
      return refuse("does not say the step");
    const auto first = amount_of(values.substr(0, dots));
    const auto last = amount_of(values.substr(dots + 2, colon - dots - 2));
    if (!first || !last) return refuse("has an end that is no number");
    field.values = stepped(*first, *last, values.substr(colon + 1));
    if (field.values.empty()) return refuse("has no value: the steps do not go up to the last one");
  }
  if (field.values.size() > kMostValues)
    return refuse(fmt::format("has more than {} values", kMostValues));
  return field;
}

}  // namespace sluice::cli
