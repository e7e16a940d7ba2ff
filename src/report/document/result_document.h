#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"
#include "sluice/model/violation.h"
#include "sluice/support/diagnostic.h"

namespace sluice::cli {

/// Keys keep the order they are written in.
using Json = nlohmann::ordered_json;

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

/// All that a command found out; the summary and the result document are two views of it.
struct RunResult {
  std::string command;
  RunStatus status = RunStatus::kOk;
  std::optional<BoundProblem> problem;   ///< none if the specs could not be read
  std::vector<NumberSource> sources;     ///< of the architecture's numbers
  bool shows_sources = false;            ///< in the summary, too
  std::optional<MapperOptions> options;  ///< commands that search
  std::string mapper_reason;             ///< why this mapper, where nobody chose one; may be empty
  LatencyPolicy latency = LatencyPolicy::kOverlap;
  std::vector<MappingOutcome> outcomes;
  std::optional<Guarantee> guarantee;
  std::optional<SearchStatistics> search;
  std::optional<NoMapping> no_mapping;
  Diagnostics diagnostics;
};

/// The result document, schema `sluice.result/1` (docs/cli.md). Values that do not apply are null.
/// The document without `search` depends on the inputs only, never on threads or the clock.
Json to_document(const RunResult& result);

/// The document's text: two spaces of indentation, numbers that round-trip, a final newline.
std::string document_text(const Json& document);
/// document_text(to_document(result)), for those who need not know what JSON is made of.
std::string document_text(const RunResult& result);

/// A number of a document; null where it is not finite.
Json finite_or_null(double value);

/// A mapping with names instead of ids, keys as in the YAML form; a node's tag is its key `node`.
Json mapping_to_json(const Mapping& mapping, const Workload& workload, const Arch& arch);

/// One reason why a mapping is illegal or unpriced, with the place of the node where that is known.
Json violation_to_json(const Violation& violation, const Mapping& mapping,
                       const MappingPlaces& places, const BoundProblem& problem);

Json diagnostics_to_json(const Diagnostics& diagnostics);

}  // namespace sluice::cli
