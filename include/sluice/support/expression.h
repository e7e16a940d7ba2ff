#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// The small typed expression language of spec files: numbers, booleans and tensor sets.
///   arithmetic + - * / // % **, comparison, `and or not`, `a if c else b`, set operators ~ & | -,
///   set comparison <= == (subset, equality), `len(S)`, set literals `{mul_add, add}`,
///   min max ceil floor log2 sqrt abs, and reductions over a component's actions
///   (`max(a.n_calls / a.throughput for a in actions)`, `sum(… )`, `min(…)`).
/// Numbers may carry a unit (`7 pJ/bit`, `128 MiB`, `1.05 GHz`, `inf`); the value is in SI base
/// units.

/// A set of names out of a known universe of at most 64: bit i stands for the universe's i-th name.
struct NameSet {
  std::uint64_t bits = 0;
  friend bool operator==(NameSet, NameSet) = default;
};

using ExpressionValue = std::variant<double, bool, NameSet>;

/// Exponents of a physical dimension: `pJ/bit` is joule 1, bit -1; `Hz` is second -1.
struct Dimension {
  int joule = 0;
  int second = 0;
  int bit = 0;
  int metre = 0;
  int cycle = 0;  ///< clock cycles; with_clock turns them into seconds
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// `J/bit`, `1/s`, `bit/s`, or `1` for a pure number.
std::string to_string(const Dimension& dimension);

/// Where names get their meaning. Every function returns nullopt for a name it does not know.
struct ExpressionScope {
  /// plain names and dotted ones (`BATCH`, `All`, `input`, `output.bits_per_value`). `X.tensors`,
  /// where nothing is known under this name, means the same as `X`.
  std::function<std::optional<ExpressionValue>(const std::string& name)> lookup;
  /// the universe that ~S complements in (of the sets that `lookup` returns)
  NameSet universe;
  /// fields of the component's actions, for reductions: size and `field(action, name)`
  std::size_t n_actions = 0;
  std::function<std::optional<double>(std::size_t action, const std::string& field)> action_field;
  /// elements of set literals `{mul_add, add}`: the singleton set of a name
  std::function<std::optional<NameSet>(const std::string& name)> literal_element;
};

struct ExpressionError {
  std::string message;
  std::size_t offset = 0;  ///< byte offset of the offending text in the expression
  std::string hint;
};

struct ExpressionNode;  // the syntax tree; private to src/support

/// A parsed expression. A value: copyable, comparable by canonical text, printable.
class Expression {
 public:
  Expression() = default;  ///< the literal 0
  static tl::expected<Expression, ExpressionError> parse(std::string_view text);
  static Expression literal(double value);

  tl::expected<ExpressionValue, ExpressionError> evaluate(const ExpressionScope& scope) const;

  /// The value of a plain number (after constant folding), else nullopt.
  std::optional<double> constant() const;
  /// The physical dimension that the units in the text give it; nullopt for a plain number and
  /// wherever no unit was written. An error where it adds or compares different ones.
  tl::expected<std::optional<Dimension>, ExpressionError> dimension() const;
  /// Quantities in cycles become seconds.
  Expression with_clock(double clock_hz) const;

  /// All names that evaluation would look up, dotted names whole; for "unknown name" checks.
  std::vector<std::string> names() const;
  /// Replaces names by values (variables known at load time; sets are left as names) and folds
  /// constants.
  Expression bind(
      const std::function<std::optional<ExpressionValue>(const std::string&)>& lookup) const;
  /// As bind, but names become whole expressions, which keep their units.
  Expression substitute(
      const std::function<std::optional<Expression>(const std::string&)>& lookup) const;
  /// The expression as the maximum over linear forms of the actions' `n_calls`, where it is one
  /// (row = one linear form, entry = the coefficient of that action's n_calls; `scope` supplies
  /// every other field). nullopt where it is something else; all coefficients are then unknown.
  std::optional<std::vector<std::vector<double>>> as_max_of_linear(
      const ExpressionScope& scope) const;
  /// Canonical text, units converted to SI base units: parses back to an equal expression.
  std::string to_string() const;

  friend bool operator==(const Expression& a, const Expression& b) {
    return a.to_string() == b.to_string();
  }

 private:
  explicit Expression(std::shared_ptr<const ExpressionNode> root) : root_(std::move(root)) {}
  const ExpressionNode& root() const;

  std::shared_ptr<const ExpressionNode> root_;  ///< null: the literal 0
};

/// Words that can be no name: `if else and or not for in True False true false inf nan`.
bool is_expression_keyword(std::string_view word);

}  // namespace sluice
