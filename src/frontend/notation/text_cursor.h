#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/support/expression.h"

namespace sluice {

/// Walks over one of the small notations (Einsums, index expressions, bounds). A mistake is thrown
/// as an ExpressionError; whoever starts a parse catches it.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  std::size_t offset();  ///< of the next character that is no space
  bool at_end();
  char peek();  ///< '\0' at the end
  /// Takes `symbol` if it comes next.
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol);
  /// A word of letters, digits and `_`, or empty.
  std::string_view word();
  /// A number without sign, or nothing.
  std::optional<double> number();
  /// What comes next, for messages: `'*'` or `the end`.
  std::string upcoming();
  [[noreturn]] void fail(std::string message, std::string hint = {});
  [[noreturn]] static void fail_at(std::size_t offset, std::string message, std::string hint = {});

 private:
  void skip_spaces();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace sluice
