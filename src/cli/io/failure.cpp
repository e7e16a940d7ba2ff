#include "failure.h"

#include <sstream>
#include <utility>
#include <vector>

namespace sluice::cli {

Diagnostic error_about_file(const std::string& file, const std::string& message,
                            const std::string& hint) {
  Diagnostic diagnostic = error_without_place(message, hint);
  diagnostic.location = {file, 1, 0};
  return diagnostic;
}

Diagnostics with_lines(Diagnostics diagnostics, const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  for (Diagnostic& diagnostic : diagnostics)
    if (const int line = diagnostic.location.line;
        line > 0 && static_cast<std::size_t>(line) <= lines.size())
      diagnostic.source_line = lines[static_cast<std::size_t>(line) - 1];
  return diagnostics;
}

ExitCode exit_code_of(const Diagnostics& diagnostics) {
  bool all_infeasible = true;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    if (diagnostic.cause == DiagnosticCause::kUnreadable) return ExitCode::kFileTrouble;
    all_infeasible &= diagnostic.cause == DiagnosticCause::kInfeasible;
  }
  return all_infeasible ? ExitCode::kHonestNo : ExitCode::kBadInput;
}

ExitCode exit_code_of(RunStatus status) {
  if (status == RunStatus::kOk) return ExitCode::kSuccess;
  if (status == RunStatus::kInterrupted) return ExitCode::kInterrupted;
  const bool has_no_verdict = status == RunStatus::kUnpriced || status == RunStatus::kNotRun;
  return has_no_verdict ? ExitCode::kNoVerdict : ExitCode::kHonestNo;
}

Failure::Failure(Diagnostics diagnostics)
    : std::runtime_error("the command failed"),
      code_(exit_code_of(diagnostics)),
      diagnostics_(std::move(diagnostics)) {}

Failure::Failure(ExitCode code, Diagnostics diagnostics)
    : std::runtime_error("the command failed"), code_(code), diagnostics_(std::move(diagnostics)) {}

Failure::Failure(ExitCode code, const std::string& message, const std::string& hint)
    : Failure(code, Diagnostics(1, error_without_place(message, hint))) {}

}  // namespace sluice::cli
