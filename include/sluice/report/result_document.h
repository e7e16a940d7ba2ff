#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"
#include "sluice/model/violation.h"
#include "sluice/report/explanation.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

inline constexpr const char* kResultSchema = "sluice.result/1";

/// One mapping and what became of it.
struct MappingOutcome {
  Mapping mapping;
  tl::expected<Cost, std::vector<Violation>> cost;
  MappingPlaces places = {};  ///< where its nodes stand; empty where it was not read from a file
};

/// How a command ended. The names in a document: ok, illegal, unpriced, not_run, no_mapping,
/// interrupted, error.
enum class RunStatus { kOk, kIllegal, kUnpriced, kNotRun, kNoMapping, kInterrupted, kError };
std::string status_name(RunStatus status);

/// What several mappings make of a run: one that is illegal makes it illegal, else one that cannot
/// be priced makes it unpriced.
void add_violations(const std::vector<Violation>& violations, RunStatus& status);

/// All that a command found out; a summary and the result document are two views of it. Whoever
/// fills one in outside the command line leaves what does not apply as it is.
struct RunResult {
  std::string command;  ///< `map`, `evaluate` …
  RunStatus status = RunStatus::kOk;
  std::optional<BoundProblem> problem;   ///< none if the specs could not be read
  std::string specs_text;                ///< YAML, where it is not that of `problem`; may be empty
  std::vector<NumberSource> sources;     ///< of the architecture's numbers
  bool shows_sources = false;            ///< in the summary, too
  std::optional<MapperOptions> options;  ///< commands that search
  std::string mapper_reason;             ///< why this mapper, where nobody chose one; may be empty
  LatencyPolicy latency = LatencyPolicy::kOverlap;
  std::vector<MappingOutcome> outcomes;
  std::optional<Guarantee> guarantee;
  std::optional<SearchStatistics> search;
  std::optional<NoMapping> no_mapping;
  std::optional<Explanation> why;  ///< of the first mapping, where that was asked for
  Diagnostics diagnostics;
};

/// The text of the result document, schema `sluice.result/1` (docs/cli.md): JSON with two spaces of
/// indentation, numbers that round-trip, a final newline. Values that do not apply are null. All
/// but `search` depends on the inputs only, never on threads or the clock.
std::string document_text(const RunResult& result);

}  // namespace sluice
