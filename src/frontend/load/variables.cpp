#include "frontend/load/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/load/settings.h"
#include "frontend/names/expression_names.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

class VariableReader {
 public:
  explicit VariableReader(ReadContext& context) : context_(context) {}

  void read(const YamlNode* node) {
    if (node != nullptr && !node->is_null()) declare(*node);
    override_with_options();
    for (const std::string& name : order_) value_of(name);
  }

 private:
  static constexpr std::size_t kDeepestDependence = 500;

  struct Declared {
    Expression expression;
    const YamlNode* place = nullptr;  ///< null: from the command line
  };

  void declare(const YamlNode& node) {
    if (!MapReader(context_, node, "variables").is_map()) return;
    for (const YamlEntry& entry : node.entries) {
      const auto name = read_name(context_, entry.key.get(), "a variable");
      // No variable is known yet, so that the expression keeps the names of others.
      const auto expression = read_expression(context_, entry.value.get(), "a variable");
      if (name && is_set_word(*name)) {
        context_.error(
            *entry.key,
            fmt::format("no variable may be called '{}': it is a word of set expressions", *name));
        continue;
      }
      if (name && !expression) break_variable(*name);
      if (name) order_.push_back(*name);
      if (name) declared_[*name] = {expression.value_or(Expression()), entry.value.get()};
    }
  }

  void override_with_options() {
    for (const auto& [name, text] : context_.options().variables) {
      const bool is_known =
          context_.options().known_variables.count(name) > 0 || context_.are_variables_open();
      if (is_field(name) || (is_known && declared_.count(name) == 0)) continue;
      const std::string subject = setting_text(name, text);
      const auto expression = Expression::parse(text);
      if (!expression)
        context_.error_about(subject, expression.error().message, expression.error().hint);
      else if (declared_.count(name) == 0)
        context_.error_about(subject, fmt::format("no file declares the variable '{}'", name),
                             did_you_mean(name, settable_names(), variables_are(settable_names())));
      else
        declared_[name] = {*expression, nullptr};
      if (!expression) break_variable(name);
    }
  }

  /// After a mistake 0; the variable is marked, so that it is reported once.
  std::optional<Expression> value_of(const std::string& name) {
    if (auto known = context_.variable(name)) return known;
    const auto found = declared_.find(name);
    if (found == declared_.end()) return std::nullopt;
    if (open_.size() > kDeepestDependence) {
      report(name, {"the variables depend on each other too deeply", 0, {}});
      return Expression();
    }
    if (!open_.insert(name).second) {
      report(name, {fmt::format("the variable '{}' depends on itself", name), 0, {}});
      return Expression();
    }
    context_.dependences()[name] = found->second.expression.names();
    const Expression bound = found->second.expression.substitute(
        [this](const std::string& other) { return value_of(other); });
    open_.erase(name);
    if (depends_on_broken(name)) return break_variable(name);
    const auto value = bound.evaluate({});
    const auto dimension = bound.dimension();
    if (!value || !dimension) {
      ExpressionError error = value ? dimension.error() : value.error();
      if (error.hint.empty() && error.message.starts_with("unknown name"))
        error.hint = did_you_mean(name_at(text_of(name), error.offset), declared_names(),
                                  variables_are(declared_names()));
      report(name, error);
      return break_variable(name);
    }
    context_.variables()[name] = bound;
    return bound;
  }

  void report(const std::string& name, const ExpressionError& error) {
    context_.broken_variables().insert(name);
    if (!reported_.insert(name).second) return;
    if (const YamlNode* place = declared_[name].place)
      context_.error(*place, error);
    else
      context_.error_about(setting_text(name, text_of(name)), error.message, error.hint);
  }

  Expression break_variable(const std::string& name) {
    context_.broken_variables().insert(name);
    context_.variables()[name] = Expression();
    return {};
  }

  bool depends_on_broken(const std::string& name) const {
    const std::vector<std::string> names = declared_.at(name).expression.names();
    return std::any_of(names.begin(), names.end(), [&](const std::string& other) {
      return context_.broken_variables().count(other) > 0;
    });
  }

  std::string text_of(const std::string& name) const {
    const YamlNode* place = declared_.at(name).place;
    return place != nullptr ? place->text : context_.options().variables.at(name);
  }

  std::vector<std::string> declared_names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : declared_) names.push_back(name);
    return names;
  }

  /// With those of files of other tools.
  std::vector<std::string> settable_names() const {
    std::set<std::string> names = context_.options().known_variables;
    for (const auto& [name, entry] : declared_) names.insert(name);
    return {names.begin(), names.end()};
  }

  /// A hint where no name is near.
  static std::string variables_are(const std::vector<std::string>& names) {
    constexpr std::size_t kMostListed = 12;
    if (names.empty())
      return "no file has a variable; a field is set by its path, as in workload.rank_sizes.M=64";
    if (names.size() > kMostListed) return {};
    return fmt::format("variables are {}", fmt::join(names, ", "));
  }

  ReadContext& context_;
  std::map<std::string, Declared> declared_;
  std::vector<std::string> order_;  ///< as in the file
  std::set<std::string> open_, reported_;
};

}  // namespace

void read_variables(ReadContext& context, const YamlNode* node) {
  VariableReader(context).read(node);
}

}  // namespace sluice
