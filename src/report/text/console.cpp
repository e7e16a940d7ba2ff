#include "console.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <string>

namespace sluice::cli {
namespace {

constexpr std::size_t kWidthWithoutTerminal = 100;
constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kWidest = 120;

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kWidthWithoutTerminal;
  return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

bool locale_is_utf8() {
  std::setlocale(LC_CTYPE, "");
  return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

std::string_view escape_code(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "1";
    case Ink::kDim:
      return "2";
    case Ink::kGreen:
      return "32";
    case Ink::kYellow:
      return "33";
    case Ink::kRed:
      return "31";
    case Ink::kBlue:
      return "34";
  }
  return "0";
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Console process_console() {
  Console console{std::cout, std::cerr};
  console.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  console.err_is_terminal = isatty(STDERR_FILENO) == 1;
  console.ascii = !locale_is_utf8();
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  console.colour =
      console.out_is_terminal && !is_dumb && (no_colour == nullptr || *no_colour == '\0');
  console.width = console.out_is_terminal ? terminal_width() : kWidthWithoutTerminal;
  return console;
}

std::string inked(const Console& console, Ink ink, std::string_view text) {
  if (!console.colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", escape_code(ink), text);
}

void print_diagnostics(const Console& console, const Diagnostics& diagnostics) {
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    console.err << to_string(diagnostic);
    errors += diagnostic.severity == Severity::kError ? 1 : 0;
    warnings += diagnostic.severity == Severity::kWarning ? 1 : 0;
  }
  if (errors > 0) console.err << counted(errors, "error") << "\n";
  if (errors == 0 && warnings > 0) console.err << counted(warnings, "warning") << "\n";
  console.err.flush();
}

}  // namespace sluice::cli
