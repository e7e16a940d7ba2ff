#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

/// What the command line takes, as a plain value: what completions and the manual page are made of.
struct OptionEntry {
  std::vector<std::string> names;  ///< `-o`, `--output`; of a positional its one name
  std::string help;
  std::string value;               ///< what it takes: `FILE`, `a|b`; empty for a flag
  std::vector<std::string> words;  ///< to choose from, where they are known
  bool takes_value = false;
};

struct CommandEntry {
  std::string name, help;
  std::vector<OptionEntry> positionals, options;
};

/// A script that completes the words of `sluice` in bash, zsh or fish.
std::string completion_script(const std::string& shell, const std::vector<CommandEntry>& commands);
const std::vector<std::string>& completion_shells();

/// The manual page sluice(1), as roff.
std::string manual_page(const std::vector<CommandEntry>& commands);

}  // namespace sluice::cli
