#include <cmath>
#include <nlohmann/json.hpp>

#include "report/document/result_document.h"
#include "sluice/support/version.h"
#include "sluice/sweep/design.h"

namespace sluice {
namespace {

using cli::finite_or_null;
using cli::Json;

Json settings_to_json(const SweepSettings& settings) {
  Json json = Json::object();
  for (const auto& [name, value] : settings) json[name] = value;
  return json;
}

Json candidate_to_json(const DesignCandidate& candidate) {
  Json workloads = Json::array();
  for (const DesignOutcome& outcome : candidate.outcomes)
    workloads.push_back(
        {{"workload", outcome.workload},
         {"weight", outcome.weight},
         {"objective", finite_or_null(outcome.objective)},
         {"energy_j", finite_or_null(outcome.energy_j)},
         {"latency_s", finite_or_null(outcome.latency_s)},
         {"power_w", outcome.power_w ? finite_or_null(*outcome.power_w) : Json(nullptr)},
         {"mapping", outcome.mapping}});
  return {{"settings", settings_to_json(candidate.settings)},
          {"area_m2", candidate.area_m2 ? finite_or_null(*candidate.area_m2) : Json(nullptr)},
          {"objective", finite_or_null(candidate.objective)},
          {"workloads", std::move(workloads)},
          {"arch", candidate.arch}};
}

}  // namespace

std::string document_text(const DesignResult& result) {
  const bool is_found = result.best.has_value();
  const char* status = result.is_cancelled ? "interrupted" : is_found ? "ok" : "no_design";
  return cli::document_text(Json{
      {"schema", kDesignSchema},
      {"sluice", std::string(version())},
      {"command", "design"},
      {"status", status},
      {"objective", result.objective},
      {"proven", result.is_proven},
      {"bound", finite_or_null(result.bound)},
      {"found_over_bound",
       is_found ? finite_or_null(result.best->objective / result.bound) : Json(nullptr)},
      {"designs",
       {{"all", result.n_designs},
        {"over_area", result.n_over_area},
        {"over_power", result.n_over_power},
        {"least_area_m2", result.least_area_m2 ? Json(*result.least_area_m2) : Json(nullptr)},
        {"least_power_w",
         result.least_power_w && !is_found ? Json(*result.least_power_w) : Json(nullptr)}}},
      {"best", is_found ? candidate_to_json(*result.best) : Json(nullptr)},
      {"search",
       {{"seconds", result.seconds}, {"looks", result.n_looks}, {"searches", result.n_searches}}}});
}

}  // namespace sluice
