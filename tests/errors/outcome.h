#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"

namespace sluice::testing {

/// Processor seconds after which a test calls an answer hung; measured answers stay below 1 s.
inline constexpr double kLongestAnswer = 10.0;

/// The YAML files of a folder, in order, without the ending.
std::vector<std::string> yaml_names(const std::filesystem::path& folder);

/// Diagnostics (places without the folder) and the exit status that follows.
std::string text_of_mistakes(Diagnostics diagnostics);

/// What a user is told about a spec: all diagnostics (places without the folder), the reasons why
/// its mappings are illegal, and the exit status that follows.
std::string outcome_of(const Result<Specs>& specs);

}  // namespace sluice::testing
