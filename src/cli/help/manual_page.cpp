#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help/command_table.h"
#include "sluice/support/version.h"

namespace sluice::cli {
namespace {

/// Text that roff prints as it is.
std::string plain(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else
      result += letter;
  }
  if (!result.empty() && (result[0] == '.' || result[0] == '\'')) result.insert(0, "\\&");
  return result;
}

std::string option_text(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + ("\\fB" + plain(name) + "\\fR");
  if (option.takes_value && !option.value.empty()) names += " \\fI" + plain(option.value) + "\\fR";
  return ".TP\n" + names + "\n" + plain(option.help) + "\n";
}

std::string command_text(const CommandEntry& command) {
  std::string text = ".SS sluice " + plain(command.name);
  for (const OptionEntry& positional : command.positionals)
    text += " " + plain(positional.names.front());
  text += "\n" + plain(command.help) + ".\n";
  for (const OptionEntry& positional : command.positionals) text += option_text(positional);
  for (const OptionEntry& option : command.options) text += option_text(option);
  return text;
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
.TP
0
found; legal; nothing wrong
.TP
1
an honest no: no legal mapping, or an illegal one
.TP
2
the input or the call is wrong
.TP
3
a file could not be read or written
.TP
4
no verdict: a mapping that cannot be priced, or run, yet
.TP
70
a bug in Sluice
.TP
130
interrupted; the best so far was written where \-o was given
)";

}  // namespace

std::string manual_page(const std::vector<CommandEntry>& commands) {
  std::string text = fmt::format(
      ".TH SLUICE 1 \"\" \"sluice {}\" \"User Commands\"\n"
      ".SH NAME\n"
      "sluice \\- find and price mappings of tensor workloads on accelerators\n"
      ".SH SYNOPSIS\n"
      ".B sluice\n.I COMMAND\n[\\fIARGUMENT\\fR ...]\n"
      ".SH DESCRIPTION\n"
      "Sluice decides how tensors flow through a machine\\-learning accelerator, and says what "
      "that "
      "costs: energy, latency and occupancy.\n"
      ".SH COMMANDS\n",
      version());
  for (const CommandEntry& command : commands) text += command_text(command);
  return text + kExitStatus;
}

}  // namespace sluice::cli
