#pragma once

#include <stdexcept>
#include <string>

#include "exit_code.h"
#include "sluice/support/diagnostic.h"

namespace sluice::cli {

/// An error that belongs to no place in a file.
Diagnostic error_without_place(const std::string& message, const std::string& hint = "");

/// Ends a command early: what was wrong, and the exit status it gives. Caught in command_line.cpp.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, Diagnostics diagnostics);
  /// One message that belongs to no place in a file.
  Failure(ExitCode code, const std::string& message, const std::string& hint = "");

  ExitCode code() const { return code_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  ExitCode code_;
  Diagnostics diagnostics_;
};

}  // namespace sluice::cli
