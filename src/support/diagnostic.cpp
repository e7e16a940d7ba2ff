#include "sluice/support/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sluice/support/error.h"
#include "support/printable_text.h"

namespace sluice {
namespace {

constexpr std::size_t kWidestQuote = 160;

std::string position(const SourceLocation& location) {
  std::string text = location.file;
  if (location.line > 0) text += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column > 0) text += fmt::format(":{}", location.column);
  return text;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The nearest place at or before `at` that no character of UTF-8 spans.
std::size_t between_characters(const std::string& text, std::size_t at) {
  constexpr std::size_t kLongestCharacter = 4;
  for (std::size_t back = 1; back < kLongestCharacter && back <= at; ++back)
    if (character_length(text, at - back) > back) return at - back;
  return at;
}

/// Blanks as wide as the text.
std::string blank(std::string text) {
  std::erase_if(text, is_continuation);  // they take no room on the screen
  for (char& c : text)
    if (c != '\t') c = ' ';
  return text;
}

/// The offending line with a caret under the column. A very long line is cut around the caret.
std::string quotation(const Diagnostic& diagnostic) {
  const std::string& line = diagnostic.source_line;
  const auto column = static_cast<std::size_t>(std::max(diagnostic.location.column, 1)) - 1;
  const std::size_t caret = between_characters(line, std::min(column, line.size()));
  std::size_t start = 0;
  std::size_t end = line.size();
  if (line.size() > kWidestQuote) {
    if (caret > kWidestQuote / 2) start = between_characters(line, caret - kWidestQuote / 2);
    end = between_characters(line, std::min(start + kWidestQuote, line.size()));
  }
  const std::string before =
      (start > 0 ? "..." : "") + printable_text(line.substr(start, caret - start));
  return "  " + before + printable_text(line.substr(caret, end - caret)) + "\n  " + blank(before) +
         "^\n";
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  fail_internal_check("Severity", __FILE__, __LINE__, "a severity without a name");
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = printable_text(position(diagnostic.location));
  if (!text.empty()) text += ": ";
  text +=
      fmt::format("{}: {}\n", to_string(diagnostic.severity), printable_text(diagnostic.message));
  if (!diagnostic.source_line.empty()) text += quotation(diagnostic);
  if (!diagnostic.hint.empty()) text += "  hint: " + printable_text(diagnostic.hint) + "\n";
  return text;
}

std::string to_string(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += to_string(diagnostic);
  return text;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);  // rows i - 2, i - 1 and i of the usual table
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 64;
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::size_t acceptable = word.size() <= 2 ? 1 : (word.size() + 2) / 3;
  std::string best;
  std::size_t best_distance = 2 * acceptable + 2;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestWord) continue;
    // Twice the distance without regard to case, plus one where only the case differs.
    const std::size_t distance =
        2 * edit_distance(lower_case(word), lower_case(candidate)) + (candidate == word ? 0 : 1);
    if (distance / 2 < std::max<std::size_t>(1, std::min(word.size(), candidate.size())) &&
        distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace sluice
