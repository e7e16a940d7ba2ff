#include "frontend/yaml/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "frontend/yaml/schema_recorder.h"
#include "sluice/support/expression.h"

namespace sluice {
namespace {

/// Sums and products of quantities between these stay within the numbers there are.
constexpr double kLargestQuantity = 1e60;
constexpr double kSmallestQuantity = 1e-60;
constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53

bool is_name(const std::string& text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

/// For whoever watches what values are read as.
void record(const ReadContext& context, const YamlNode* node, SchemaValue::Scalar scalar) {
  if (context.recorder() != nullptr) context.recorder()->value(node, scalar);
}

/// `.inf` and `.nan` are YAML's spelling.
std::string yaml_number_as_expression(const std::string& text) {
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::string_view rest = std::string_view(text).substr(sign);
  if (rest == ".inf" || rest == ".Inf" || rest == ".INF") return text.substr(0, sign) + "inf";
  if (rest == ".nan" || rest == ".NaN" || rest == ".NAN") return "nan";
  return text;
}

/// A number as it is meant: -4, and where that stands otherwise or elsewhere, that, too:
/// `-4 ('M - 8', --set M=4)`.
std::string describe_value(const ReadContext& context, const YamlNode& node, double value) {
  const auto parsed = Expression::parse(yaml_number_as_expression(node.text));
  if (!node.is_scalar() || !parsed || parsed->names().empty()) return describe(node);
  const std::vector<std::string> assignments = context.assignments_behind(parsed->names());
  return fmt::format("{} ({}{}{})", value + 0.0, describe(node), assignments.empty() ? "" : ", ",
                     fmt::join(assignments, ", "));
}

}  // namespace

std::optional<std::string> read_text(ReadContext& context, const YamlNode* node, const char* what) {
  if (node == nullptr) return std::nullopt;
  record(context, node, SchemaValue::Scalar::kText);
  if (node->is_scalar()) return node->text;
  context.error(*node, fmt::format("{} must be a text, not {}", what, describe(*node)));
  return std::nullopt;
}

std::optional<std::string> read_name(ReadContext& context, const YamlNode* node, const char* what) {
  auto text = read_text(context, node, what);
  if (!text) return std::nullopt;
  if (is_expression_keyword(*text)) {
    context.error(*node, fmt::format("'{}' is a word of the expression language, no name", *text));
    return std::nullopt;
  }
  if (is_name(*text)) return text;
  context.error(*node, fmt::format("{} must be a name, not {}", what, describe(*node)),
                "names are letters, digits and '_', and do not start with a digit");
  return std::nullopt;
}

std::optional<Expression> read_expression(ReadContext& context, const YamlNode* node,
                                          const char* what) {
  if (node == nullptr) return std::nullopt;
  record(context, node, SchemaValue::Scalar::kExpression);
  if (!node->is_scalar()) {
    context.error(*node, fmt::format("{} must be an expression, not {}", what, describe(*node)));
    return std::nullopt;
  }
  const auto parsed = Expression::parse(yaml_number_as_expression(node->text));
  if (parsed) {
    for (const std::string& name : parsed->names())
      if (context.broken_variables().count(name) > 0) {
        context.error_that_follows();
        return std::nullopt;
      }
    return parsed->substitute([&](const std::string& name) { return context.variable(name); });
  }
  context.error(*node, parsed.error());
  return std::nullopt;
}

std::optional<bool> read_bool(ReadContext& context, const YamlNode* node, const char* what) {
  record(context, node, SchemaValue::Scalar::kTruth);
  const auto expression = read_expression(context, node, what);
  if (!expression) return std::nullopt;
  const auto value = expression->evaluate({});
  if (value && std::holds_alternative<bool>(*value)) return std::get<bool>(*value);
  context.error(*node, fmt::format("{} must be true or false, not {}", what, describe(*node)));
  return std::nullopt;
}

namespace {

/// The number that an expression over variables alone has.
std::optional<double> number_of(ReadContext& context, const YamlNode& node, const char* what,
                                const Expression& expression) {
  const auto value = expression.evaluate({});
  if (!value) {
    context.error(node, value.error());
    return std::nullopt;
  }
  if (const double* number = std::get_if<double>(&*value)) return *number;
  context.error(node, fmt::format("{} must be a number, not {}", what, describe(node)));
  return std::nullopt;
}

bool check_range(ReadContext& context, const YamlNode& node, double value,
                 const QuantityRule& rule) {
  const char* problem = nullptr;
  if (value < 0) problem = "must not be negative";
  if (value == 0 && !rule.zero) problem = "must be larger than 0";
  if (std::isinf(value) && !rule.infinite) problem = "must be finite";
  if (std::isfinite(value) && value > kLargestQuantity) problem = "must be at most 1e60";
  if (value > 0 && value < kSmallestQuantity) problem = "must be at least 1e-60, or 0";
  if (problem == nullptr) return true;
  context.error(node, fmt::format("{} {}, but it is {}", rule.what, problem,
                                  describe_value(context, node, value)));
  return false;
}

/// Checks the unit and turns cycles into seconds.
std::optional<Expression> with_checked_unit(ReadContext& context, const YamlNode& node,
                                            Expression expression, const QuantityRule& rule) {
  auto dimension = expression.dimension();
  const auto is_allowed = [&rule](const Dimension& d) {
    return std::find(rule.dimensions.begin(), rule.dimensions.end(), d) != rule.dimensions.end();
  };
  const auto in_seconds = [](Dimension d) {
    d.second += std::exchange(d.cycle, 0);
    return d;
  };
  if (dimension && *dimension && (**dimension).cycle != 0 && is_allowed(in_seconds(**dimension))) {
    if (!rule.clock_hz) {
      context.error(node, fmt::format("{} is given in cycles, but there is no clock", rule.what),
                    "give the architecture a clock, as in 'clock: 1 GHz'");
      return std::nullopt;
    }
    expression = expression.with_clock(*rule.clock_hz);
    dimension = expression.dimension();
  }
  if (!dimension) {
    context.error(node, dimension.error());
    return std::nullopt;
  }
  if (!*dimension || is_allowed(**dimension)) return expression;
  std::string wanted;
  for (const Dimension& allowed : rule.dimensions)
    wanted += (wanted.empty() ? "" : " or ") + to_string(allowed);
  context.error(
      node,
      fmt::format("{} cannot be in {}: {}", rule.what, to_string(**dimension), describe(node)),
      wanted.empty() ? "it has no unit" : fmt::format("it is in {}", wanted));
  return std::nullopt;
}

}  // namespace

std::optional<Quantity> read_quantity(ReadContext& context, const YamlNode* node,
                                      const QuantityRule& rule) {
  record(context, node, SchemaValue::Scalar::kNumber);
  const auto read = read_expression(context, node, rule.what);
  if (!read) return std::nullopt;
  const auto expression = with_checked_unit(context, *node, *read, rule);
  if (!expression) return std::nullopt;
  const auto value = number_of(context, *node, rule.what, *expression);
  if (!value || !check_range(context, *node, *value, rule)) return std::nullopt;
  return Quantity{*value, *expression->dimension()};
}

std::optional<Expression> read_quantity_expression(ReadContext& context, const YamlNode* node,
                                                   const QuantityRule& rule) {
  record(context, node, SchemaValue::Scalar::kNumber);
  const auto read = read_expression(context, node, rule.what);
  if (!read) return std::nullopt;
  const auto expression = with_checked_unit(context, *node, *read, rule);
  if (!expression) return std::nullopt;
  if (!expression->names().empty() || rule.over_actions) return expression;
  const auto value = number_of(context, *node, rule.what, *expression);
  if (!value || !check_range(context, *node, *value, rule)) return std::nullopt;
  return expression;
}

std::optional<std::int64_t> read_integer(ReadContext& context, const YamlNode* node,
                                         const char* what, std::int64_t minimum) {
  record(context, node, SchemaValue::Scalar::kNumber);
  const auto read = read_expression(context, node, what);
  if (!read) return std::nullopt;
  const auto expression = with_checked_unit(context, *node, *read, {.what = what});
  if (!expression) return std::nullopt;
  const auto value = number_of(context, *node, what, *expression);
  if (!value) return std::nullopt;
  const std::string given = describe_value(context, *node, *value);
  if (*value != std::floor(*value) || std::isinf(*value)) {
    context.error(*node, fmt::format("{} must be a whole number, not {}", what, given));
    return std::nullopt;
  }
  if (*value < static_cast<double>(minimum)) {
    context.error(*node, fmt::format("{} must be at least {}, not {}", what, minimum, given));
    return std::nullopt;
  }
  if (*value > kLargestExactInteger) {
    context.error(
        *node, fmt::format("{} must be at most 2^53 = 9,007,199,254,740,992, not {}", what, given));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

void record_choice(ReadContext& context, const YamlNode* node,
                   const std::vector<std::string>& words) {
  if (context.recorder() != nullptr) context.recorder()->choice(node, words);
}

std::vector<std::string> read_names(ReadContext& context, const YamlNode* node, const char* what) {
  std::vector<std::string> names;
  if (node == nullptr) return names;
  if (!node->is_sequence()) {
    if (auto name = read_name(context, node, what)) names.push_back(std::move(*name));
    return names;
  }
  for (const YamlPointer& item : node->items)
    if (auto name = read_name(context, item.get(), what)) names.push_back(std::move(*name));
  return names;
}

}  // namespace sluice
