#include "frontend/import/accelforge/total_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <regex>
#include <vector>

#include "frontend/import/reading/made_nodes.h"
#include "support/yaml_text.h"

namespace sluice {
namespace {

using TimeRows = std::vector<std::vector<double>>;

constexpr const char* kCalls = "_actions";
constexpr const char* kSeconds = "_latency";
const char* const kKey = "total_latency";

/// The names of the actions that a component lists, else those that its kind has.
std::vector<std::string> names_of_actions(const YamlNode& component) {
  std::vector<std::string> names;
  if (const YamlNode* actions = component.find("actions"))
    for (const YamlPointer& action : actions->items)
      if (const YamlNode* name = action->find("name")) names.push_back(name->text);
  const auto need = [&](const char* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  if (component.tag == "!Memory" || component.tag == "!Toll") need("read");
  if (component.tag == "!Memory") need("write");
  if (component.tag == "!Compute" && names.empty()) need("compute");
  return names;
}

/// `read` of `read_actions`; empty where the name ends otherwise.
std::string action_of(const std::string& name, const std::string& ending) {
  if (!name.ends_with(ending) || name.size() == ending.size()) return {};
  return name.substr(0, name.size() - ending.size());
}

/// Actions have no names in an expression: each has a throughput of its own here, its number, by
/// which it is told from the others. Nothing else asks for it beside a `total_latency`.
double label(std::size_t action) { return static_cast<double>(action + 1); }

/// The calls of one of `n` actions: of all, times what is 1 at its label and 0 at the others, a
/// polynomial, so that the sum is seen to be linear in the calls.
std::string calls_text(std::size_t action, std::size_t n) {
  std::string factors;
  double divisor = 1;
  for (std::size_t other = 0; other < n; ++other) {
    if (other == action) continue;
    factors += fmt::format(" * (a.throughput - {})", yaml_number(label(other)));
    divisor *= label(action) - label(other);
  }
  return fmt::format("sum(a.n_calls{} / {} for a in actions)", factors, yaml_number(divisor));
}

/// Of one component.
class TimeWriter {
 public:
  TimeWriter(ImportContext& context, YamlNode& component, std::string name)
      : context_(context), component_(component), name_(std::move(name)) {
    if (const YamlNode* actions = component.find("actions"))
      for (const YamlPointer& action : actions->items)
        actions_.push_back(std::make_shared<YamlNode>(*action));
    names_ = names_of_actions(component);
  }

  void write(const YamlNode& written) {
    const auto parsed = Expression::parse(written.text);
    if (!parsed || actions_.size() != names_.size()) return;  // said when the spec is loaded
    const Expression expression =
        parsed->substitute([&](const std::string& name) { return meaning_of(name, written); });
    if (is_wrong_) return;
    if (is_unknown_) return forget();
    if (expression == *parsed) return;
    const auto rows = expression.as_max_of_linear(labelled());
    if (rows && rows->size() == 1)
      take_sum(rows->front());
    else if (rows && component_.tag == "!Memory" && has_one_term_each(*rows))
      take_ports(*rows);
    else
      take_expression(expression, written);
    put_actions();
  }

 private:
  std::optional<Expression> meaning_of(const std::string& name, const YamlNode& written) {
    const std::string called = action_of(name, kCalls), timed = action_of(name, kSeconds);
    if (called.empty() && timed.empty()) return std::nullopt;
    const std::string& action = called.empty() ? timed : called;
    const auto found = std::find(names_.begin(), names_.end(), action);
    if (found == names_.end()) {
      const std::size_t at = written.text.find(name);
      context_.read.error_inside(
          written, at == std::string::npos ? 0 : at,
          fmt::format("unknown name '{}': {} has no action '{}'", name, name_, action),
          fmt::format("it has {}", fmt::join(names_, ", ")));
      is_wrong_ = true;
      return std::nullopt;
    }
    const auto number = static_cast<std::size_t>(found - names_.begin());
    const auto calls = Expression::parse(calls_text(number, names_.size()));
    if (!calls || !called.empty()) return calls ? std::optional(*calls) : std::nullopt;
    return seconds_of(number, written);
  }

  /// Calls over the throughput of the action, with what scales it.
  std::optional<Expression> seconds_of(std::size_t action, const YamlNode& written) {
    const YamlNode* throughput = actions_[action]->find("throughput");
    if (throughput == nullptr || throughput->is_null()) {
      context_.note(written, fmt::format("the time of {} depends on the latency of its action {}, "
                                         "which is not given: it is unknown (null)",
                                         name_, names_[action]));
      is_unknown_ = true;
      return std::nullopt;
    }
    const auto seconds =
        throughput->text == "inf"
            ? Expression::parse(calls_text(action, names_.size()) + " * 0")
            : Expression::parse(
                  fmt::format("{} / ({})", calls_text(action, names_.size()), throughput->text));
    if (!seconds) is_unknown_ = true;
    return seconds ? std::optional(*seconds) : std::nullopt;
  }

  ExpressionScope labelled() const {
    ExpressionScope scope;
    scope.n_actions = actions_.size();
    scope.action_field = [](std::size_t action, const std::string& field) {
      return field == "throughput" ? label(action) : 1.0;
    };
    return scope;
  }

  /// Whether each row is about an action of its own, and each action has a row.
  bool has_one_term_each(const TimeRows& rows) const {
    std::vector<int> n_rows(actions_.size());
    for (const std::vector<double>& row : rows) {
      if (row.size() - static_cast<std::size_t>(std::count(row.begin(), row.end(), 0.0)) > 1)
        return false;
      for (std::size_t action = 0; action < row.size(); ++action) n_rows[action] += row[action] > 0;
    }
    return std::all_of(n_rows.begin(), n_rows.end(), [](int n) { return n <= 1; });
  }

  void take_sum(const std::vector<double>& row) {
    take(component_, kKey);
    for (std::size_t action = 0; action < actions_.size(); ++action)
      set_throughput(action, row[action]);
  }

  void take_ports(const TimeRows& rows) {
    const YamlPointer written = take(component_, kKey);
    for (std::size_t action = 0; action < actions_.size(); ++action) {
      double seconds = 0;
      for (const std::vector<double>& row : rows) seconds += row[action];
      set_throughput(action, seconds);
    }
    set(component_, "ports", made_text("separate", *written));
  }

  void set_throughput(std::size_t action, double seconds) {
    set(*actions_[action], "throughput",
        made_text(seconds == 0 ? "inf" : yaml_number(1 / seconds), *actions_[action]));
  }

  void take_expression(const Expression& expression, const YamlNode& written) {
    set(component_, kKey, made_text(expression.to_string(), written));
    for (std::size_t action = 0; action < actions_.size(); ++action)
      set(*actions_[action], "throughput",
          made_text(yaml_number(label(action)), *actions_[action]));
  }

  void forget() {
    take(component_, kKey);
    for (const auto& action : actions_) {
      auto null = made_node(YamlNode::Kind::kNull, *action);
      set(*action, "throughput", null);
    }
    put_actions();
  }

  void put_actions() {
    auto list = std::make_shared<YamlNode>(*component_.find("actions"));
    list->items.assign(actions_.begin(), actions_.end());
    update_extent(*list);
    set(component_, "actions", list);
  }

  ImportContext& context_;
  YamlNode& component_;
  std::string name_;
  std::vector<std::string> names_;                  ///< of its actions
  std::vector<std::shared_ptr<YamlNode>> actions_;  ///< in the same order
  bool is_wrong_ = false, is_unknown_ = false;
};

}  // namespace

void write_out_action_latencies(YamlNode& component) {
  static const std::regex kSum(R"(\bsum\(\s*\*\s*action2latency\.values\(\)\s*\))");
  static const std::regex kAll(R"(\*\s*action2latency\.values\(\))");
  static const std::regex kOne(R"(action2latency\[\s*["'](\w+?)(_latency)?["']\s*\])");
  const YamlNode* written = component.find(kKey);
  if (written == nullptr || written->text.find("action2latency") == std::string::npos) return;
  std::vector<std::string> times;
  for (const std::string& action : names_of_actions(component)) times.push_back(action + kSeconds);
  std::string text = written->text;
  text = std::regex_replace(text, kSum, fmt::format("({})", fmt::join(times, " + ")));
  text = std::regex_replace(text, kAll, fmt::format("{}", fmt::join(times, ", ")));
  text = std::regex_replace(text, kOne, std::string("$1") + kSeconds);
  set(component, kKey, made_text(text, *written));
}

void translate_total_latency(ImportContext& context, YamlNode& component, const std::string& name) {
  if (const YamlNode* written = component.find(kKey); written != nullptr && written->is_scalar())
    TimeWriter(context, component, name).write(YamlNode(*written));
}

bool names_actions_of_accelforge(const std::string& total_latency) {
  const auto parsed = Expression::parse(total_latency);
  if (!parsed) return total_latency.find("action2latency") != std::string::npos;
  const std::vector<std::string> names = parsed->names();
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return !action_of(name, kCalls).empty() || !action_of(name, kSeconds).empty();
  });
}

}  // namespace sluice
