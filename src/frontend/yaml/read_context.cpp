#include "frontend/yaml/read_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace sluice {
void ReadContext::error(const SourcePosition& place, std::string message, std::string hint) {
  ++n_errors_;
  const SourcePosition position = sources_.origin(place);
  if (diagnostics_.size() >= kMostDiagnostics) return;
  Found& found = diagnostics_.emplace_back();
  found.position = position;
  Diagnostic& diagnostic = found.diagnostic;
  diagnostic.location = {sources_.name(position.file), position.line, position.column};
  diagnostic.source_line = sources_.line(position);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
}

void ReadContext::error_inside(const YamlNode& scalar, std::size_t offset, std::string message,
                               std::string hint) {
  SourcePosition position = scalar.position;
  const std::string line = sources_.line(position);
  const std::size_t start =
      static_cast<std::size_t>(std::max(position.column, 1)) - 1 + (scalar.quoted ? 1 : 0);
  // Where the text stands in the file as it was read (no escapes, folds or repetitions).
  if (start < line.size() && line.compare(start, scalar.text.size(), scalar.text) == 0)
    position.column = static_cast<int>(start + std::min(offset, scalar.text.size())) + 1;
  error(position, std::move(message), std::move(hint));
}

void ReadContext::error_about(const std::string& subject, std::string message, std::string hint,
                              DiagnosticCause cause) {
  ++n_errors_;
  Found& found = diagnostics_.emplace_back();
  found.position.file = std::numeric_limits<std::size_t>::max();
  Diagnostic& diagnostic = found.diagnostic;
  diagnostic.location.file = subject;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.cause = cause;
}

void ReadContext::warning(const YamlNode& node, std::string message, std::string hint) {
  const NodePlace place = place_of(node);
  warnings_.push_back(
      {Severity::kWarning, place.location, std::move(message), place.source_line, std::move(hint)});
}

Diagnostics ReadContext::take_diagnostics() {
  std::vector<std::size_t> order(diagnostics_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(diagnostics_[a].position, a) < std::tie(diagnostics_[b].position, b);
  });
  Diagnostics result;
  for (const std::size_t i : order) {
    const Diagnostic& diagnostic = diagnostics_[i].diagnostic;
    if (std::find(result.begin(), result.end(), diagnostic) == result.end())
      result.push_back(diagnostic);
  }
  return result;
}

/// Where an expression fails because of a number from the command line, that is said, too.
void ReadContext::error(const YamlNode& scalar, const ExpressionError& error) {
  std::string hint = error.hint;
  const auto parsed = hint.empty() ? Expression::parse(scalar.text) : Expression();
  if (parsed) {
    const std::vector<std::string> assignments = assignments_behind(parsed->names());
    if (!assignments.empty())
      hint = fmt::format("it follows from {}", fmt::join(assignments, ", "));
  }
  error_inside(scalar, error.offset, error.message, hint);
}

std::vector<std::string> ReadContext::assignments_behind(
    const std::vector<std::string>& names) const {
  std::vector<std::string> assignments;
  std::vector<std::string> open = names;
  std::set<std::string> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const auto assigned = options_.variables.find(name);
    const bool is_variable = variables_.count(name) > 0 || broken_variables_.count(name) > 0;
    if (assigned != options_.variables.end() && is_variable)
      assignments.push_back(fmt::format("--set {}={}", name, assigned->second));
    const auto dependence = dependences_.find(name);
    if (dependence == dependences_.end()) continue;
    for (const std::string& other : dependence->second)
      if (seen.insert(other).second) open.push_back(other);
  }
  std::sort(assignments.begin(), assignments.end());
  return assignments;
}

std::optional<Expression> ReadContext::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::nullopt : std::optional(found->second);
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  const std::string near = nearest_name(word, candidates);
  return near.empty() ? otherwise : fmt::format("did you mean '{}'?", near);
}

}  // namespace sluice
