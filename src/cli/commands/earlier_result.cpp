#include "earlier_result.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../failure.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"

namespace sluice::cli {
namespace {

bool was_interrupted(const std::filesystem::path& document) {
  std::ifstream in(document);
  const auto json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.value("command", "") == "map" &&
         json.value("status", "") == "interrupted";
}

}  // namespace

std::optional<double> interrupted_objective(const MapArguments& arguments,
                                            const MapperOptions& options) {
  const std::filesystem::path folder = arguments.output.folder;
  if (folder.empty() || !was_interrupted(folder / "result.json")) return std::nullopt;
  SpecArguments with_mapping = arguments.specs;
  with_mapping.names.push_back((folder / "mapping.yaml").string());
  try {
    const Specs specs = load(with_mapping);
    if (specs.mappings.empty()) return std::nullopt;
    const auto cost = evaluate(bind_or_fail(specs), specs.mappings.front(), options.policy);
    if (!cost) return std::nullopt;
    return objective_value(options.objectives.front(), *cost);
  } catch (const Failure&) {  // a mapping of other specs: no help, and no mistake
    return std::nullopt;
  }
}

}  // namespace sluice::cli
