#include "bounds_document.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/support/csv.h"
#include "sluice/support/version.h"

namespace sluice::cli {
namespace {

constexpr const char* kBoundsSchema = "sluice.bounds/1";

struct Number {
  const char* name;
  Least LeastCosts::*least;
};
constexpr Number kNumbers[] = {{"traffic_bits", &LeastCosts::traffic_bits},
                               {"energy_j", &LeastCosts::energy_j},
                               {"latency_s", &LeastCosts::latency_s}};

Json least_to_json(const LeastCosts& costs) {
  Json result = Json::object();
  for (const Number& number : kNumbers) {
    const Least& least = costs.*number.least;
    result[number.name] = {{"value", finite_or_null(least.value)},
                           {"bound", finite_or_null(least.bound)},
                           {"proven", least.is_proven}};
  }
  return result;
}

Json no_to_json(const NoMapping& no) {
  return {
      {"reason", no.reason}, {"nearest_relaxation", no.nearest_relaxation}, {"proven", no.proven}};
}

/// What the numbers are optima of.
Json space_to_json(const Guarantee& guarantee) {
  return {{"mapper", "fused"},
          {"space", guarantee.space},
          {"leaves_out", limits_to_json(guarantee.leaves_out)}};
}

}  // namespace

Json bounds_document(const BoundsReport& report) {
  Json points = Json::array();
  Json space = nullptr;
  for (const BoundsPoint& point : report.points) {
    Json row = {{"value", point.value.empty() ? Json(nullptr) : Json(point.value)},
                {"seconds", point.seconds}};
    if (point.least) {
      row["alone"] = point.least->no_alone ? Json(nullptr) : least_to_json(point.least->alone);
      if (point.least->no_alone) row["no_mapping_alone"] = no_to_json(*point.least->no_alone);
      row["fused"] = least_to_json(point.least->fused);
      if (space.is_null()) space = space_to_json(point.least->space);
    } else {
      row["no_mapping"] = no_to_json(point.no);
    }
    points.push_back(std::move(row));
  }
  return {{"schema", kBoundsSchema},
          {"sluice", std::string(version())},
          {"command", "bounds"},
          {"status", report.is_interrupted ? "interrupted" : "ok"},
          {"workload", report.workload},
          {"architecture", report.arch},
          {"varied", report.varied.empty() ? Json(nullptr) : Json(report.varied)},
          {"space", std::move(space)},
          {"points", std::move(points)},
          {"diagnostics", diagnostics_to_json(report.diagnostics)}};
}

std::string bounds_csv(const BoundsReport& report) {
  std::string text = csv_cell(report.varied.empty() ? "value" : report.varied);
  for (const char* how : {"alone", "fused"})
    for (const Number& number : kNumbers)
      text += fmt::format(",{0}_{1},{0}_{1}_bound", how, number.name);
  text += '\n';
  for (const BoundsPoint& point : report.points) {
    text += csv_cell(point.value);
    for (const bool fused : {false, true})
      for (const Number& number : kNumbers) {
        if (!point.least) {
          text += ",,";
          continue;
        }
        const Least& least = (fused ? point.least->fused : point.least->alone).*number.least;
        const bool has_bound = fused || !point.least->no_alone;
        text += std::isfinite(least.value) ? fmt::format(",{}", least.value) : ",";
        text += has_bound ? fmt::format(",{}", least.bound) : ",";
      }
    text += '\n';
  }
  return text;
}

}  // namespace sluice::cli
