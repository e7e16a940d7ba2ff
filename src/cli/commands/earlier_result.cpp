#include "earlier_result.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/io/failure.h"
#include "mapper/common/criteria.h"
#include "mapper/common/rounding.h"
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

/// What the document proves of all that it has; kNone where its search did not go to its end.
GuaranteeKind kind_in(const nlohmann::json& json) {
  const std::string kind = text_at(part_of(json, "guarantee"), "kind");
  if (text_at(json, "status") != "ok" || !text_at(part_of(json, "search"), "ended_by").empty())
    return GuaranteeKind::kNone;
  for (const GuaranteeKind proof : {GuaranteeKind::kOptimal, GuaranteeKind::kWithinEpsilon})
    if (kind == guarantee_name(proof)) return proof;
  return GuaranteeKind::kNone;
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

/// What the document proves, and of which space; the bound of a gap is in bound_in().
Guarantee guarantee_in(const nlohmann::json& json) {
  const nlohmann::json guarantee = part_of(json, "guarantee");
  Guarantee result;
  result.kind = kind_in(json);
  result.epsilon = number_at(guarantee, "epsilon");
  result.space = text_at(guarantee, "space");
  result.space.resize(std::min(result.space.size(), result.space.find("; leaves out: ")));
  for (const nlohmann::json& limit : part_of(guarantee, "leaves_out"))
    result.leaves_out.push_back({text_at(limit, "name"), text_at(limit, "text")});
  return result;
}

/// Whether what a mapper proves holds for all that another one may find: some know the whole space,
/// whatever they visit of it.
bool proves_for(const std::string& mapper, const std::string& other) {
  static const std::set<std::string> kOfAll = {"fused",  "exhaustive", "random",
                                               "anneal", "genetic",    "iterative"};
  return mapper == other || kOfAll.contains(mapper);
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

/// The mappings in the folder, priced with these specs; none where one does not fit them.
std::vector<MappingOutcome> mappings_in_folder(const MapArguments& arguments,
                                               const RunResult& result) {
  SpecArguments with_mapping = arguments.specs;
  with_mapping.names.push_back(
      (std::filesystem::path(arguments.output.folder) / "mapping.yaml").string());
  try {
    Specs specs = load(with_mapping);
    std::vector<MappingOutcome> outcomes;
    for (Mapping& mapping : specs.mappings) {
      MappingOutcome& outcome = outcomes.emplace_back(MappingOutcome{std::move(mapping), {}});
      outcome.cost = evaluate(*result.problem, outcome.mapping, result.options->policy);
      if (!outcome.cost) return {};
    }
    return outcomes;
  } catch (const Failure&) {  // a mapping of other specs: no help, and no mistake
    return {};
  }
}

/// Else its specs differ in all respects, and the names say so.
bool is_of_same_names(const nlohmann::json& document, const RunResult& result) {
  const BoundProblem& problem = *result.problem;
  return text_at(document, "workload") == problem.workload.name &&
         text_at(document, "arch") == problem.arch.name;
}

/// Whether something else than a proof that there is nothing better speaks for what was found.
bool is_replaceable(const RunResult& result) {
  if (result.status == RunStatus::kInterrupted) return true;
  if (result.no_mapping) return !result.no_mapping->proven;
  return result.status == RunStatus::kOk && result.guarantee &&
         result.guarantee->kind != GuaranteeKind::kOptimal;
}

void set_best(std::vector<MappingOutcome> mappings, const RunResult& result,
              EarlierResult* earlier) {
  if (mappings.empty()) return;
  earlier->objective = objective_value(result.options->objectives.front(), *mappings.front().cost);
  earlier->mappings = std::move(mappings);
}

bool is_as_told(const nlohmann::json& document, const EarlierResult& earlier,
                const MapperOptions& options) {
  const nlohmann::json mappings = part_of(document, "mappings");
  return mappings.is_array() && mappings.size() == earlier.mappings.size() &&
         told_objective(document, options.objectives.front()) == *earlier.objective;
}

/// Of two lists: the front, or as many of the best as are asked for, each once.
std::vector<MappedResult> best_of(std::vector<MappedResult> mappings, const BoundProblem& problem,
                                  const MapperOptions& options) {
  if (asks_for_front(options)) return joint_front_of(problem, options, std::move(mappings));
  std::stable_sort(mappings.begin(), mappings.end(), [&](const auto& a, const auto& b) {
    const Objective objective = options.objectives.front();
    return objective_value(objective, a.cost) < objective_value(objective, b.cost);
  });
  std::vector<MappedResult> best;
  for (MappedResult& own : mappings)
    if (best.size() < static_cast<std::size_t>(options.top) &&
        std::none_of(best.begin(), best.end(),
                     [&](const MappedResult& other) { return other.mapping == own.mapping; }))
      best.push_back(std::move(own));
  return best;
}

/// Of a mapping that stays: what was proven of it stays proven.
void keep_guarantee(const EarlierResult& earlier, RunResult* result) {
  const GuaranteeKind proof = earlier.guarantee.kind;
  if (!result->guarantee || proof == GuaranteeKind::kOptimal ||
      (proof == GuaranteeKind::kWithinEpsilon && result->guarantee->kind != proof))
    result->guarantee = earlier.guarantee;
  if (proof != GuaranteeKind::kNone && result->search) result->search->ended_by.clear();
}

/// Of a mapping that is better than the best of a space that was searched: of another one.
void forget_proof(const EarlierResult& earlier, RunResult* result) {
  Guarantee& guarantee = *result->guarantee;
  guarantee.space = earlier.guarantee.space;
  guarantee.leaves_out = earlier.guarantee.leaves_out;
  guarantee.bound = earlier.bound;
  guarantee.kind = earlier.bound > 0 ? GuaranteeKind::kGap : GuaranteeKind::kNone;
}

/// Whether some of the earlier ones are left.
bool keep_several(const EarlierResult& earlier, RunResult* result) {
  if (earlier.guarantee.kind == GuaranteeKind::kOptimal) {
    result->outcomes = earlier.mappings;
    keep_guarantee(earlier, result);
    return true;
  }
  std::vector<MappedResult> both;
  for (const MappingOutcome& own : result->outcomes) both.push_back({own.mapping, *own.cost});
  for (const MappingOutcome& own : earlier.mappings) both.push_back({own.mapping, *own.cost});
  const auto is_new = [&](const MappedResult& own) {
    return std::any_of(result->outcomes.begin(), result->outcomes.end(),
                       [&](const MappingOutcome& other) { return other.mapping == own.mapping; });
  };
  std::vector<MappedResult> best = best_of(std::move(both), *result->problem, *result->options);
  if (std::all_of(best.begin(), best.end(), is_new)) return false;
  result->outcomes.clear();
  for (MappedResult& own : best)
    result->outcomes.push_back({std::move(own.mapping), std::move(own.cost)});
  if (!result->guarantee) {
    result->guarantee = earlier.guarantee;
    result->guarantee->kind = GuaranteeKind::kNone;
  }
  return true;
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
      set_best(mappings_in_folder(arguments, result), result, &earlier);
    return earlier;
  }
  earlier.other_mapper = other_mapper_in(*document, *result.options);
  nlohmann::json now = as_value(to_document(result));
  if (!earlier.other_mapper.empty()) now["options"].erase("mapper");
  earlier.differences = differences(*document, now);
  if (is_of_same_names(*document, result))
    if (const auto changed = changed_specs(arguments.output.folder, result.specs_text))
      earlier.differences.push_back(*changed);
  earlier.guarantee = guarantee_in(*document);
  earlier.is_proven = earlier.guarantee.kind != GuaranteeKind::kNone;
  if (!earlier.differences.empty() || !has_mapping(*document)) return earlier;
  set_best(mappings_in_folder(arguments, result), result, &earlier);
  if (earlier.mappings.empty()) return earlier;
  earlier.is_altered = !is_as_told(*document, earlier, *result.options);
  if (earlier.is_altered) earlier.guarantee.kind = GuaranteeKind::kNone;
  if (asks_for_one(*result.options) &&
      proves_for(text_at(*document, "mapper"), result.options->mapper))
    earlier.bound = bound_in(*document, *earlier.objective);
  return earlier;
}

bool keep_better(const EarlierResult& earlier, RunResult* result) {
  const MapperOptions& options = *result->options;
  const bool is_proven = !is_replaceable(*result);
  const bool may_be_elsewhere = asks_for_one(options) && !earlier.is_altered &&
                                !result->outcomes.empty() && result->guarantee;
  if (earlier.mappings.empty() || (is_proven && !may_be_elsewhere)) return false;
  if (asks_for_one(options)) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const double found = result->outcomes.empty() ? kNone
                                                  : objective_value(options.objectives.front(),
                                                                    *result->outcomes.front().cost);
    if (*earlier.objective > (is_proven ? kBelowRounding * found : found)) return false;
    result->outcomes = {earlier.mappings.front()};
    if (is_proven)
      forget_proof(earlier, result);
    else
      keep_guarantee(earlier, result);
  } else if (earlier.is_altered || !keep_several(earlier, result)) {
    return false;
  }
  if (!result->no_mapping) return true;
  result->no_mapping.reset();
  result->status = RunStatus::kOk;
  return true;
}

void keep_bound(const EarlierResult& earlier, RunResult* result) {
  if (earlier.mappings.empty() || !is_replaceable(*result) || !result->guarantee ||
      result->outcomes.empty())
    return;
  Guarantee& guarantee = *result->guarantee;
  if (guarantee.kind == GuaranteeKind::kWithinEpsilon) return;
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
