#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help/command_table.h"
#include "sluice/support/error.h"

namespace sluice::cli {
namespace {

/// Text between single quotes of a shell.
std::string in_single_quotes(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'')
      result += "'\\''";
    else
      result += letter == '\n' ? ' ' : letter;
  }
  return result + "'";
}

/// The first sentence, for lists of candidates.
std::string brief(const std::string& help) { return help.substr(0, help.find(". ")); }

std::string all_names(const std::vector<OptionEntry>& options) {
  std::vector<std::string> names;
  for (const OptionEntry& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string words_of(const std::vector<OptionEntry>& positionals) {
  std::vector<std::string> words;
  for (const OptionEntry& positional : positionals)
    words.insert(words.end(), positional.words.begin(), positional.words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

// --- bash
// -----------------------------------------------------------------------------------------

std::string bash_values(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options)
    if (option.takes_value)
      text += fmt::format("      {}) {} ;;\n", fmt::join(option.names, "|"),
                          option.words.empty()
                              ? "COMPREPLY=($(compgen -f -- \"$word\")); return"
                              : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\")); return",
                                            fmt::join(option.words, " ")));
  return text;
}

std::string bash_script(const std::vector<CommandEntry>& commands) {
  std::string names, cases;
  for (const CommandEntry& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += fmt::format("    {})\n      options='{}' words='{}'\n", command.name,
                         all_names(command.options), words_of(command.positionals));
    if (const std::string values = bash_values(command); !values.empty())
      cases += "      case $before in\n" + values + "      esac\n";
    cases += "      ;;\n";
  }
  return fmt::format(R"(# bash completion of sluice: source <(sluice completion bash)
_sluice() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options= words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _sluice sluice
)",
                     names, cases);
}

// --- zsh
// ------------------------------------------------------------------------------------------

/// Colons and brackets mean something in a specification of _arguments.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == ':' || letter == '[' || letter == ']' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

std::string zsh_action(const OptionEntry& option) {
  return option.words.empty() ? "_files" : fmt::format("({})", fmt::join(option.words, " "));
}

std::string zsh_arguments(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options)
    for (const std::string& name : option.names) {
      std::string spec = fmt::format("*{}[{}]", name, zsh_text(brief(option.help)));
      if (option.takes_value)
        spec += fmt::format(":{}:{}", zsh_text(option.value.empty() ? "value" : option.value),
                            zsh_action(option));
      text += " \\\n        " + in_single_quotes(spec);
    }
  for (const OptionEntry& positional : command.positionals)
    text += " \\\n        " + in_single_quotes(positional.words.empty()
                                                   ? "*:file:_files"
                                                   : fmt::format("*:{}:_sluice_names {}",
                                                                 zsh_text(positional.names.front()),
                                                                 fmt::join(positional.words, " ")));
  return text;
}

std::string zsh_script(const std::vector<CommandEntry>& commands) {
  std::string names, cases;
  for (const CommandEntry& command : commands) {
    names += "\n    " + in_single_quotes(command.name + ":" + zsh_text(brief(command.help)));
    cases += fmt::format("    {})\n      _arguments{}\n      ;;\n", command.name,
                         zsh_arguments(command));
  }
  return fmt::format(R"(#compdef sluice
# zsh completion of sluice: put it into a folder of $fpath as _sluice
_sluice_names() {{
  compadd -- "$@"
  _files
}}
_sluice() {{
  local -a commands
  commands=({}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [ "$funcstack[1]" = _sluice ]; then _sluice "$@"; else compdef _sluice sluice; fi
)",
                     names, cases);
}

// --- fish
// -----------------------------------------------------------------------------------------

std::string fish_option(const std::string& command, const OptionEntry& option) {
  std::string line = fmt::format("complete -c sluice -n '__fish_seen_subcommand_from {}'", command);
  for (const std::string& name : option.names)
    line += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value)
    line += option.words.empty()
                ? " -r"
                : fmt::format(" -x -a {}",
                              in_single_quotes(fmt::format("{}", fmt::join(option.words, " "))));
  return line + " -d " + in_single_quotes(brief(option.help)) + "\n";
}

std::string fish_script(const std::vector<CommandEntry>& commands) {
  std::string text =
      "# fish completion of sluice: sluice completion fish | source\n"
      "complete -c sluice -n __fish_use_subcommand -l help -d 'Print help'\n"
      "complete -c sluice -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CommandEntry& command : commands) {
    text += fmt::format("complete -c sluice -f -n __fish_use_subcommand -a {} -d {}\n",
                        command.name, in_single_quotes(brief(command.help)));
    if (const std::string words = words_of(command.positionals); !words.empty())
      text += fmt::format("complete -c sluice -n '__fish_seen_subcommand_from {}' -a {}\n",
                          command.name, in_single_quotes(words));
    for (const OptionEntry& option : command.options) text += fish_option(command.name, option);
  }
  return text;
}

}  // namespace

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const std::string& shell, const std::vector<CommandEntry>& commands) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  SLUICE_CHECK(shell == "fish", "no completion for " + shell);
  return fish_script(commands);
}

}  // namespace sluice::cli
