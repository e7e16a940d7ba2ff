#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace sluice {

/// A place in a user's file; line and column count from 1, 0 means "the whole file".
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

enum class Severity { kNote, kWarning, kError };

/// "note", "warning", "error"
const char* to_string(Severity severity);

/// Whether the input says something wrong (exit status 2), could not be read at all (3), or is well
/// formed but asks for what cannot be (1).
enum class DiagnosticCause { kContent, kUnreadable, kInfeasible };

/// One mistake (or remark) about a user's input.
struct Diagnostic {
  Severity severity = Severity::kError;
  SourceLocation location;
  std::string message;      ///< what is wrong, in one sentence, with the offending text
  std::string source_line;  ///< the offending line, empty where there is none
  std::string hint;         ///< what to do about it, empty where nothing is known
  DiagnosticCause cause = DiagnosticCause::kContent;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// A value, or every mistake that kept it from being made.
template <class T>
using Result = tl::expected<T, Diagnostics>;

/// `file:line:column: error: message`, the line, a caret, `hint: …`; ends with a newline.
std::string to_string(const Diagnostic& diagnostic);

/// All of them, one after the other.
std::string to_string(const Diagnostics& diagnostics);

bool has_errors(const Diagnostics& diagnostics);

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(const std::string& a, const std::string& b);

/// The candidate nearest to `word` by edit distance, or empty if none is near ("did you mean").
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace sluice
