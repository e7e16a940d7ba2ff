#pragma once

#include <string>

#include "commands.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// Makes the output folder before any work is done, so that a wrong `-o` fails at once.
void prepare_output(const OutputArguments& output);

/// Warns where a mapping breaks the architecture's `keep` and `may_keep`: the bounds are those of
/// mappings that do not. `consequence`: for the reader.
void warn_of_kept(const BoundProblem& problem, const Mapping& mapping,
                  const std::string& consequence, Diagnostics* diagnostics);

/// Writes result.json (and mapping.yaml, if there is a mapping) into a folder.
void write_result(const RunResult& result, const std::string& folder);

/// Writes result.json (and mapping.yaml, if there is a mapping) where `-o` says, then prints the
/// document or the summary to standard output.
void publish(const RunResult& result, const OutputArguments& output, const Console& console);

}  // namespace sluice::cli
