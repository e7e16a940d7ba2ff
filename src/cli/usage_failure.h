#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/io/failure.h"

namespace sluice::cli {

/// What is wrong with a call that was not understood, with the nearest command or option where one
/// was misspelt.
Failure usage_failure(const CLI::App& app, const std::vector<std::string>& commands,
                      const std::vector<std::string>& arguments, const CLI::ParseError& error);

}  // namespace sluice::cli
