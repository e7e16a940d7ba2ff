#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/report/result_document.h"

namespace sluice::cli {

/// Keys keep the order they are written in.
using Json = nlohmann::ordered_json;

/// The result document, schema `sluice.result/1` (docs/cli.md). Values that do not apply are null.
/// The document without `search` depends on the inputs only, never on threads or the clock.
Json to_document(const RunResult& result);

/// The document's text: two spaces of indentation, numbers that round-trip, a final newline.
std::string document_text(const Json& document);

/// A number of a document; null where it is not finite.
Json finite_or_null(double value);

/// `optimal`, `within_epsilon`, `gap`, `none`
std::string guarantee_name(GuaranteeKind kind);

/// A mapping with names instead of ids, keys as in the YAML form; a node's tag is its key `node`.
Json mapping_to_json(const Mapping& mapping, const Workload& workload, const Arch& arch);

/// One entry of `mappings`: a mapping and what it costs, or why it is illegal.
Json outcome_to_json(const MappingOutcome& outcome, const BoundProblem& problem);

/// One reason why a mapping is illegal or unpriced, with the place of the node where that is known.
Json violation_to_json(const Violation& violation, const Mapping& mapping,
                       const MappingPlaces& places, const BoundProblem& problem);

/// What a search space leaves out: names and sentences.
Json limits_to_json(const std::vector<SpaceLimit>& limits);

Json diagnostics_to_json(const Diagnostics& diagnostics);

}  // namespace sluice::cli
