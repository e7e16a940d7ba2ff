#include "failure.h"

#include <utility>

namespace sluice::cli {

Diagnostic error_about_file(const std::string& file, const std::string& message,
                            const std::string& hint) {
  Diagnostic diagnostic = error_without_place(message, hint);
  diagnostic.location = {file, 1, 0};
  return diagnostic;
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
