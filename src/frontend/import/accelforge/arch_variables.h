#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "frontend/import/reading/import_context.h"
#include "sluice/support/expression.h"

namespace sluice {

/// What expressions of an AccelForge architecture may name: `arch.variables` and `variables` of the
/// file, fanouts of components (`Column.get_fanout()`), and Python's `round`. Lists, texts and
/// calls of Python functions, which only component models understand, have no value here, nor has
/// what depends on them.
class ArchVariables {
 public:
  /// Nodes may be null.
  ArchVariables(const YamlNode* arch, const YamlNode* variables);

  /// The expression with variables replaced by what they stand for; nothing where it is none or
  /// depends on what has no value.
  std::optional<Expression> resolved(const std::string& text) const;
  /// The number that it is, where tensors have `bits` each.
  std::optional<double> number(const std::string& text, std::optional<double> bits) const;
  /// Names in a text that have no value; for messages.
  std::string unknown_part(const std::string& text) const;
  /// Whether a variable is one of `variables` that has a value.
  bool is_plain(const std::string& name) const;

 private:
  std::optional<Expression> resolved(const std::string& text, int depth) const;
  void add_fanouts(const YamlNode& nodes);

  std::map<std::string, const YamlNode*> values_;
  mutable std::map<std::string, std::optional<Expression>> known_;  ///< values looked up so far
  std::map<std::string, std::string> fanouts_;  ///< of components: an expression
};

}  // namespace sluice
