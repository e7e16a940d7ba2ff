#include "earlier_result.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/io/failure.h"
#include "replaced_result.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"

namespace sluice::cli {
namespace {

/// Of a `map` that was interrupted, or that a limit ended.
bool is_unfinished(const nlohmann::json& json) {
  const auto is = [&json](const char* key, const char* value) {
    return json.contains(key) && json[key].is_string() && json[key] == value;
  };
  if (!is("command", "map")) return false;
  const bool was_limited = is("status", "ok") && json.contains("search") &&
                           json["search"].is_object() && json["search"].contains("ended_by") &&
                           json["search"]["ended_by"].is_string();
  return is("status", "interrupted") || was_limited;
}

/// The mapping in the folder, priced with these specs; none where it does not fit them.
std::optional<MappingOutcome> mapping_in_folder(const MapArguments& arguments,
                                                const RunResult& result) {
  SpecArguments with_mapping = arguments.specs;
  with_mapping.names.push_back(
      (std::filesystem::path(arguments.output.folder) / "mapping.yaml").string());
  try {
    Specs specs = load(with_mapping);
    if (specs.mappings.empty()) return std::nullopt;
    MappingOutcome outcome{std::move(specs.mappings.front()), {}};
    outcome.cost = evaluate(*result.problem, outcome.mapping, result.options->policy);
    if (!outcome.cost) return std::nullopt;
    return outcome;
  } catch (const Failure&) {  // a mapping of other specs: no help, and no mistake
    return std::nullopt;
  }
}

/// Whether the mapping costs what the document says: else it is of other sizes or energies.
bool is_of_these_specs(const nlohmann::json& document, const std::optional<MappingOutcome>& best) {
  const auto mappings = document.value("mappings", nlohmann::json());
  if (!mappings.is_array() || mappings.empty() || !mappings[0].is_object()) return true;
  const auto is = [&](const char* key, double value) {
    const auto found = mappings[0].find(key);
    return found == mappings[0].end() || !found->is_number() || found->get<double>() == value;
  };
  return best && is("energy_j", best->cost->energy_j) && is("latency_s", best->cost->latency_s);
}

/// Whether something else than a proof speaks for the mapping found.
bool is_replaceable(const RunResult& result) {
  if (result.status == RunStatus::kInterrupted) return true;
  return result.status == RunStatus::kOk && result.guarantee &&
         (result.guarantee->kind == GuaranteeKind::kNone ||
          result.guarantee->kind == GuaranteeKind::kGap);
}

}  // namespace

std::optional<EarlierResult> earlier_result(const MapArguments& arguments,
                                            const RunResult& result) {
  const auto document = document_in(arguments.output.folder);
  if (!document) return std::nullopt;
  EarlierResult earlier;
  const auto now = as_value(to_document(result));
  earlier.differences = differences(*document, now);
  earlier.is_same_request = without_limits(document->value("options", nlohmann::json())) ==
                            without_limits(now["options"]);
  auto best = mapping_in_folder(arguments, result);
  if (earlier.differences.empty() && !is_of_these_specs(*document, best))
    earlier.differences = {"other numbers in the specs"};
  if (!best || !is_unfinished(*document)) return earlier;
  earlier.objective = objective_value(result.options->objectives.front(), *best->cost);
  earlier.best = std::move(best);
  return earlier;
}

void keep_better(const EarlierResult& earlier, RunResult* result) {
  const MapperOptions& options = *result->options;
  const bool is_single =
      options.objectives.size() == 1 && options.top == 1 && !options.resource_usage;
  if (!earlier.best || !is_single || !earlier.is_same_request || !is_replaceable(*result)) return;
  const bool is_worse = result->outcomes.empty() ||
                        *earlier.objective < objective_value(options.objectives.front(),
                                                             *result->outcomes.front().cost);
  if (is_worse) result->outcomes = {*earlier.best};
}

}  // namespace sluice::cli
