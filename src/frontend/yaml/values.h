#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

// Readers of single values. Each reports what is wrong and then returns nothing. A null node gives
// nothing silently, so that they can be chained behind MapReader::optional.

/// The text of a scalar.
std::optional<std::string> read_text(ReadContext& context, const YamlNode* node, const char* what);
/// A name: letters, digits and `_`, not starting with a digit, and no word of the expression
/// language.
std::optional<std::string> read_name(ReadContext& context, const YamlNode* node, const char* what);
/// `true` or `false`, or an expression over variables that is one.
std::optional<bool> read_bool(ReadContext& context, const YamlNode* node, const char* what);
/// An expression, variables replaced by their values.
std::optional<Expression> read_expression(ReadContext& context, const YamlNode* node,
                                          const char* what);
/// A whole number in minimum..2^53.
std::optional<std::int64_t> read_integer(ReadContext& context, const YamlNode* node,
                                         const char* what, std::int64_t minimum);
/// A list of names, or a single one.
std::vector<std::string> read_names(ReadContext& context, const YamlNode* node, const char* what);

/// What a number with a unit must look like.
struct QuantityRule {
  const char* what;
  std::vector<Dimension> dimensions = {};  ///< allowed; a plain number always is
  std::optional<double> clock_hz = {};     ///< turns cycles into seconds
  bool zero = true;                        ///< 0 allowed
  bool infinite = false;                   ///< inf allowed
  bool over_actions = false;               ///< may run over a component's actions
};

struct Quantity {
  double value = 0;
  std::optional<Dimension> dimension;  ///< none for a plain number
};

/// A number that variables alone determine, not negative.
std::optional<Quantity> read_quantity(ReadContext& context, const YamlNode* node,
                                      const QuantityRule& rule);
/// An expression whose value may depend on an Einsum's tensors; unit and sign are checked as far as
/// they are known.
std::optional<Expression> read_quantity_expression(ReadContext& context, const YamlNode* node,
                                                   const QuantityRule& rule);

template <class Enum>
struct NamedValue {
  const char* name;
  Enum value;
};

/// For whoever watches what values are read as.
void record_choice(ReadContext& context, const YamlNode* node,
                   const std::vector<std::string>& words);

/// One of a closed set of words.
template <class Choices>
auto read_choice(ReadContext& context, const YamlNode* node, const char* what,
                 const Choices& choices) -> std::optional<decltype(std::begin(choices)->value)> {
  const auto text = read_text(context, node, what);
  if (!text) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& choice : choices) names.emplace_back(choice.name);
  record_choice(context, node, names);
  for (const auto& choice : choices)
    if (*text == choice.name) return choice.value;
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  context.error(*node, std::string("'") + *text + "' is no " + what,
                did_you_mean(*text, names, "one of " + all));
  return std::nullopt;
}

}  // namespace sluice
