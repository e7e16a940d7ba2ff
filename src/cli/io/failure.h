#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "exit_code.h"
#include "report/document/result_document.h"
#include "sluice/frontend/load_any.h"
#include "sluice/support/diagnostic.h"
#include "sluice/support/failed.h"

namespace sluice::cli {

/// An error about a whole file.
Diagnostic error_about_file(const std::string& file, const std::string& message,
                            const std::string& hint = "");

/// The same with the lines of the text that they are about.
Diagnostics with_lines(Diagnostics diagnostics, const std::string& text);

/// The exit status that diagnostics call for: kFileTrouble if a file could not be read, kHonestNo
/// if all errors say that nothing can be found, else kBadInput.
ExitCode exit_code_of(const Diagnostics& diagnostics);

/// The exit status of a command that looks at given mappings.
ExitCode exit_code_of(RunStatus status);

/// Ends a command early: what was wrong, and the exit status it gives. Caught in command_line.cpp.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Diagnostics diagnostics);  ///< exit_code_of(diagnostics)
  Failure(ExitCode code, Diagnostics diagnostics);
  /// One message that belongs to no place in a file.
  Failure(ExitCode code, const std::string& message, const std::string& hint = "");

  ExitCode code() const { return code_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  ExitCode code_;
  Diagnostics diagnostics_;
};

/// What `action` gives; where it fails, what was noted before about places in files is told, too:
/// it may be why.
template <class Action>
auto with_notes(const Diagnostics& notes, const Action& action) try {
  return action();
} catch (const Failure& failure) {
  throw Failure(failure.code(), after_notes(notes, failure.diagnostics()));
}

/// The value of an outcome. Throws Failure with all that is wrong where there is none.
template <class Value>
Value value_or_fail(Result<Value> outcome) {
  if (!outcome) throw Failure(outcome.error());
  if constexpr (!std::is_void_v<Value>) return std::move(*outcome);
}

}  // namespace sluice::cli
