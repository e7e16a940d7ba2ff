#pragma once

#include <string>
#include <vector>

#include "cli/io/exit_code.h"
#include "report/text/console.h"

namespace sluice::cli {

/// Runs one command: parses the arguments (without the program's name), runs it, and turns every
/// kind of failure into messages on console.err (with `--json` also into a document on console.out)
/// and an exit status. Throws nothing.
ExitCode run_command_line(const std::vector<std::string>& arguments, Console console);

}  // namespace sluice::cli
