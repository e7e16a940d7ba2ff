#include "earlier_result.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/io/failure.h"
#include "replaced_result.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"

namespace sluice::cli {
namespace {

std::string text_at(const nlohmann::json& json, const char* key) {
  if (!json.is_object()) return "";
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

nlohmann::json part_of(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) ? json[key] : nlohmann::json();
}

bool has_mapping(const nlohmann::json& json) {
  const std::string status = text_at(json, "status");
  return text_at(json, "command") == "map" && (status == "ok" || status == "interrupted");
}

/// Of a search that went to its end, and proves something about its mapping.
bool is_proof(const nlohmann::json& json) {
  const std::string guarantee = text_at(part_of(json, "guarantee"), "kind");
  return text_at(json, "status") == "ok" && text_at(part_of(json, "search"), "ended_by").empty() &&
         guarantee != "none" && guarantee != "gap";
}

double number_at(const nlohmann::json& json, const char* key) {
  const nlohmann::json number = part_of(json, key);
  return number.is_number() ? number.get<double>() : 0;
}

/// What the document proves of one objective; 0 where that is nothing.
double bound_in(const nlohmann::json& json, double objective) {
  const nlohmann::json guarantee = part_of(json, "guarantee");
  const std::string kind = text_at(guarantee, "kind");
  if (kind == "gap") return number_at(guarantee, "bound");
  if (kind == "within_epsilon") return objective / (1 + number_at(guarantee, "epsilon"));
  return kind == "optimal" ? objective : 0;
}

/// Of the mapping, as the document has it; 0 where it has none.
double told_objective(const nlohmann::json& json, Objective objective) {
  const nlohmann::json mappings = part_of(json, "mappings");
  if (!mappings.is_array() || mappings.empty()) return 0;
  const char* key = objective == Objective::kEnergy    ? "energy_j"
                    : objective == Objective::kLatency ? "latency_s"
                                                       : "edp_js";
  return number_at(mappings.front(), key);
}

/// The space that the document names; what it proves of it is in bound_in().
Guarantee space_in(const nlohmann::json& json) {
  const nlohmann::json guarantee = part_of(json, "guarantee");
  Guarantee result;
  result.space = text_at(guarantee, "space");
  result.space.resize(std::min(result.space.size(), result.space.find("; leaves out: ")));
  for (const nlohmann::json& limit : part_of(guarantee, "leaves_out"))
    result.leaves_out.push_back({text_at(limit, "name"), text_at(limit, "text")});
  return result;
}

/// Whether what a mapper proves holds for all that another one may find.
bool proves_for(const std::string& mapper, const std::string& other) {
  return mapper == other || mapper == "fused";
}

/// All mappers but this one search the same mappings (docs/mappers.md).
bool share_a_space(const std::string& mapper, const std::string& other) {
  constexpr const char* kAnotherSpace = "compound";
  return mapper != kAnotherSpace && other != kAnotherSpace;
}

/// The mapper of the document, if it is another one with the same space.
std::string other_mapper_in(const nlohmann::json& json, const MapperOptions& options) {
  const std::string mapper = text_at(json, "mapper");
  const bool is_other = !mapper.empty() && mapper != options.mapper;
  return is_other && share_a_space(mapper, options.mapper) ? mapper : "";
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

/// Else its specs differ in all respects, and the names say so.
bool is_of_same_names(const nlohmann::json& document, const RunResult& result) {
  const BoundProblem& problem = *result.problem;
  return text_at(document, "workload") == problem.workload.name &&
         text_at(document, "arch") == problem.arch.name;
}

/// Whether something else than a proof speaks for the mapping found.
bool is_replaceable(const RunResult& result) {
  if (result.status == RunStatus::kInterrupted) return true;
  if (result.no_mapping) return !result.no_mapping->proven;
  return result.status == RunStatus::kOk && result.guarantee &&
         (result.guarantee->kind == GuaranteeKind::kNone ||
          result.guarantee->kind == GuaranteeKind::kGap);
}

void set_best(std::optional<MappingOutcome> mapping, const RunResult& result,
              EarlierResult* earlier) {
  if (!mapping) return;
  earlier->objective = objective_value(result.options->objectives.front(), *mapping->cost);
  earlier->best = std::move(mapping);
}

}  // namespace

std::optional<EarlierResult> earlier_result(const MapArguments& arguments,
                                            const RunResult& result) {
  const auto document = document_in(arguments.output.folder);
  if (!document) return std::nullopt;
  EarlierResult earlier;
  if (!document->is_object()) {
    earlier.is_damaged = true;
    // Nobody knows any more which constraints its mapping keeps.
    if (result.options->constraints == Constraints{} &&
        !changed_specs(arguments.output.folder, result.specs_text))
      set_best(mapping_in_folder(arguments, result), result, &earlier);
    return earlier;
  }
  earlier.other_mapper = other_mapper_in(*document, *result.options);
  nlohmann::json now = as_value(to_document(result));
  if (!earlier.other_mapper.empty()) now["options"].erase("mapper");
  earlier.differences = differences(*document, now);
  if (is_of_same_names(*document, result))
    if (const auto changed = changed_specs(arguments.output.folder, result.specs_text))
      earlier.differences.push_back(*changed);
  earlier.is_proven = is_proof(*document);
  if (!earlier.differences.empty() || !has_mapping(*document)) return earlier;
  set_best(mapping_in_folder(arguments, result), result, &earlier);
  if (!earlier.best) return earlier;
  earlier.is_incumbent =
      asks_for_one(*result.options) &&
      told_objective(*document, result.options->objectives.front()) == *earlier.objective;
  earlier.space = space_in(*document);
  if (asks_for_one(*result.options) &&
      proves_for(text_at(*document, "mapper"), result.options->mapper))
    earlier.bound = bound_in(*document, *earlier.objective);
  return earlier;
}

bool keep_better(const EarlierResult& earlier, RunResult* result) {
  const MapperOptions& options = *result->options;
  if (!earlier.best || !asks_for_one(options) || !is_replaceable(*result)) return false;
  const bool is_worse = result->outcomes.empty() ||
                        *earlier.objective <= objective_value(options.objectives.front(),
                                                              *result->outcomes.front().cost);
  if (!is_worse) return false;
  result->outcomes = {*earlier.best};
  if (!result->guarantee) result->guarantee = earlier.space;
  if (!result->no_mapping) return true;
  result->no_mapping.reset();
  result->status = RunStatus::kOk;
  return true;
}

void keep_bound(const EarlierResult& earlier, RunResult* result) {
  if (!earlier.best || !is_replaceable(*result) || !result->guarantee || result->outcomes.empty())
    return;
  Guarantee& guarantee = *result->guarantee;
  const bool has_gap = guarantee.kind == GuaranteeKind::kGap;
  const double found =
      objective_value(result->options->objectives.front(), *result->outcomes.front().cost);
  constexpr double kRounding = 1e-12;
  const bool is_beaten = found < earlier.bound * (1 - kRounding);  // by a mapping from elsewhere
  if (is_beaten || earlier.bound <= (has_gap ? guarantee.bound : 0)) return;
  guarantee.bound = earlier.bound;
  guarantee.kind =
      found <= guarantee.bound * (1 + kRounding) ? GuaranteeKind::kOptimal : GuaranteeKind::kGap;
}

}  // namespace sluice::cli
