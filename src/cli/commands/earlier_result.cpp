#include "earlier_result.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/io/failure.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"

namespace sluice::cli {
namespace {

/// The document of a `map` that was interrupted, or that a limit ended.
std::optional<nlohmann::json> interrupted_document(const std::filesystem::path& file) {
  std::ifstream in(file);
  auto json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  const auto is = [&json](const char* key, const char* value) {
    return json.contains(key) && json[key].is_string() && json[key] == value;
  };
  if (!json.is_object() || !is("command", "map")) return std::nullopt;
  const bool was_limited = is("status", "ok") && json.contains("search") &&
                           json["search"].is_object() && json["search"].contains("ended_by") &&
                           json["search"]["ended_by"].is_string();
  if (!is("status", "interrupted") && !was_limited) return std::nullopt;
  return json;
}

/// How far it goes does not change what is asked for.
nlohmann::json without_limits(nlohmann::json options) {
  if (options.is_object())
    for (const char* limit : {"budget", "seed"}) options.erase(limit);
  return options;
}

/// Whether something else than a proof speaks for the mapping found.
bool is_replaceable(const RunResult& result) {
  if (result.status == RunStatus::kInterrupted) return true;
  return result.status == RunStatus::kOk && result.guarantee &&
         (result.guarantee->kind == GuaranteeKind::kNone ||
          result.guarantee->kind == GuaranteeKind::kGap);
}

}  // namespace

std::optional<EarlierResult> interrupted_result(const MapArguments& arguments,
                                                const RunResult& result) {
  const std::filesystem::path folder = arguments.output.folder;
  if (folder.empty()) return std::nullopt;
  const auto document = interrupted_document(folder / "result.json");
  if (!document) return std::nullopt;
  SpecArguments with_mapping = arguments.specs;
  with_mapping.names.push_back((folder / "mapping.yaml").string());
  try {
    const Specs specs = load(with_mapping);
    if (specs.mappings.empty()) return std::nullopt;
    EarlierResult earlier{{specs.mappings.front(), {}}};
    earlier.best.cost = evaluate(*result.problem, earlier.best.mapping, result.options->policy);
    if (!earlier.best.cost) return std::nullopt;
    earlier.objective = objective_value(result.options->objectives.front(), *earlier.best.cost);
    earlier.is_same_request =
        without_limits(document->value("options", nlohmann::json())) ==
        without_limits(nlohmann::json::parse(to_document(result)["options"].dump()));
    return earlier;
  } catch (const Failure&) {  // a mapping of other specs: no help, and no mistake
    return std::nullopt;
  }
}

void keep_better(const EarlierResult& earlier, RunResult* result) {
  const MapperOptions& options = *result->options;
  const bool is_single =
      options.objectives.size() == 1 && options.top == 1 && !options.resource_usage;
  if (!is_single || !earlier.is_same_request || !is_replaceable(*result)) return;
  const bool is_worse = result->outcomes.empty() ||
                        earlier.objective < objective_value(options.objectives.front(),
                                                            *result->outcomes.front().cost);
  if (is_worse) result->outcomes = {earlier.best};
}

}  // namespace sluice::cli
