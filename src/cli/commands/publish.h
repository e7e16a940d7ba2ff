#pragma once

#include <string>

#include "commands.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// What a result is of: workload and architecture as canonical YAML.
inline constexpr const char* kSpecsFile = "specs.yaml";
std::string specs_text(const BoundProblem& problem);

/// Makes the output folder before any work is done, so that a wrong `-o` fails at once.
void prepare_output(const OutputArguments& output);

/// Warns where a legal mapping breaks the architecture's `keep` and `may_keep` (the bounds are
/// those of mappings that do not; `consequence`: for the reader), and where inputs come from
/// nowhere.
void warn_of_mapping(const BoundProblem& problem, const Mapping& mapping,
                     const std::string& consequence, Diagnostics* diagnostics);

/// Writes result.json, specs.yaml (and mapping.yaml, if there is a mapping) into a folder.
void write_result(const RunResult& result, const std::string& folder);

/// Writes the same where `-o` says, then prints the document or the summary to standard output.
void publish(const RunResult& result, const OutputArguments& output, const Console& console);

}  // namespace sluice::cli
