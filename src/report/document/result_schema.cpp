#include <nlohmann/json.hpp>
#include <sstream>

#include "report/document/result_document.h"
#include "sluice/report/spec_schema_json.h"

namespace sluice {
namespace {

using cli::Json;

Json reference(const std::string& name) { return Json{{"$ref", "#/$defs/" + name}}; }

Json list_of(Json items) { return Json{{"type", "array"}, {"items", std::move(items)}}; }

Json or_null(Json schema) {
  return Json{{"anyOf", Json::array({std::move(schema), Json{{"type", "null"}}})}};
}

/// `energy_j:number? einsum:text`: keys with types; `?`: may be null, `~`: may be absent. A type
/// that is none of JSON's is a definition of its own, `name[]` a list.
Json object_of(const std::string& fields) {
  Json properties = Json::object(), required = Json::array();
  std::istringstream words(fields);
  for (std::string field; words >> field;) {
    const std::size_t colon = field.find(':');
    const std::string key = field.substr(0, colon);
    std::string type = field.substr(colon + 1);
    const auto ends_with = [&type](const std::string& mark) {
      if (!type.ends_with(mark)) return false;
      type.resize(type.size() - mark.size());
      return true;
    };
    if (!ends_with("~")) required.push_back(key);
    const bool is_nullable = ends_with("?");
    const bool is_list = ends_with("[]");
    const bool is_plain =
        type == "string" || type == "number" || type == "integer" || type == "boolean";
    Json schema = is_plain        ? Json{{"type", type}}
                  : type == "any" ? Json::object()
                                  : reference(type);
    if (is_list) schema = list_of(std::move(schema));
    properties[key] = is_nullable ? or_null(std::move(schema)) : std::move(schema);
  }
  return Json{{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties", false}};
}

struct Definition {
  const char* name;
  const char* fields;
};

/// Rows and parts of the document, in the order of docs/cli.md.
constexpr Definition kDefinitions[] = {
    {"guarantee",
     "kind:string space:string leaves_out:limit[] orders_explored:number orders_wanted:number "
     "epsilon:number bound:number? found_over_bound:number?"},
    {"limit", "name:string text:string"},
    {"search",
     "seconds:number threads:integer mappings_considered:number? mappings_evaluated:number? "
     "pmappings_kept:number? convergence:convergence[]? ended_by:string? peak_rss_bytes:number"},
    {"convergence", "evaluations:number seconds:number objective:number"},
    {"reason",
     "message:string nearest_relaxation:string? component:string? einsum:string? "
     "tensors:string[] excess_bits:number?"},
    {"machine",
     "component:string kind:string instances:number action:string? actions_per_s:number? "
     "bits_per_action:number?"},
    {"source", "component:string number:string value:number? source:string?"},
    {"diagnostic",
     "severity:string file:string? line:integer? column:integer? message:string "
     "source_line:string? hint:string?"},
    {"energy",
     "component:string einsum:string tensor:string? action:string count:number? bits:number? "
     "actions:number? energy_j:number?"},
    {"latency", "einsum:string component:string latency_s:number?"},
    {"collective",
     "kind:string component:string einsum:string tensor:string volume_bits:number? "
     "bit_hops:number? latency_hops:number?"},
    {"collective_latency",
     "einsum:string tensor:string type:string component:string over:string[] algorithm:string "
     "combined_values:number? latency_s:number?"},
    {"occupancy", "component:string peak_bits:number? capacity_bits:number?"},
    {"bounds", "compute_s:number? memory_s:number? energy_floor_j:number?"},
    {"efficiency",
     "operations:number? operations_per_s:number? operations_per_j:number? power_w:number? "
     "operations_by_einsum:einsum_operations[]~ utilisation:utilisation[] roofline:roofline?"},
    {"einsum_operations", "einsum:string operations:number?"},
    {"utilisation", "component:string of_peak:number? busy:number?"},
    {"roofline",
     "component:string operations_per_bit:number ridge_operations_per_bit:number "
     "operations_per_s:number roof_operations_per_s:number bound_by:string"},
    {"node_size", "node:integer trips:integer~ tensor:string~ bits:number?~ tile:string~"},
    {"occupancy_over_time", "steps:string[] held:held[]"},
    {"held", "component:string tensor:string from:integer until:integer bits:number?"},
    {"violation",
     "kind:string message:string component:string? einsum:string? tensors:string[] "
     "excess_bits:number? node_path:integer[] file:string? line:integer? column:integer?"},
    {"tree", "nodes:node[]"},
    {"priced",
     "energy_j:number? latency_s:number? latency_cycles:number? breakdown:breakdown? "
     "edp_js:number? area_m2:number? leak_energy_j:number? efficiency:efficiency energy:energy[] "
     "latency:latency[] "
     "collectives:collective[] collective_latency:collective_latency[] occupancy:occupancy[] "
     "bounds:bounds fusion_groups:names[] unpriced_merge_values:number? padding_values:number? "
     "node_sizes:node_size[] occupancy_over_time:occupancy_over_time mapping:tree"},
    {"refused", "violations:violation[] mapping:tree"},
    {"executed",
     "legal:boolean complaints:complaint[] counts:any networks:any occupancy:occupancy[] "
     "numbers:any merge_values:number padding_values:number compute_steps:number model:any "
     "mapping:tree"},
    {"complaint", "kind:string message:string"},
};

/// Nodes have the keys of the YAML form beside `node`.
Json node_definition() {
  return Json{{"type", "object"},
              {"properties",
               Json{{"node", Json{{"enum", Json::array({"Storage", "Toll", "Temporal", "Spatial",
                                                        "Sequential", "Pipeline", "Parallel",
                                                        "Collective", "Compute", "Nested"})}}},
                    {"nodes", list_of(reference("node"))}}},
              {"required", Json::array({"node"})}};
}

Json statuses() {
  Json names = Json::array();
  for (const RunStatus status :
       {RunStatus::kOk, RunStatus::kIllegal, RunStatus::kUnpriced, RunStatus::kNotRun,
        RunStatus::kNoMapping, RunStatus::kInterrupted, RunStatus::kError})
    names.push_back(status_name(status));
  return Json{{"enum", std::move(names)}};
}

}  // namespace

std::string result_schema_text() {
  Json result = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "Sluice result document"}};
  result.update(object_of(
      "schema:string sluice:string command:string status:string workload:string? arch:string? "
      "mapper:string?~ objective:string?~ latency_policy:string~ seed:integer?~ options:any~ "
      "guarantee:guarantee?~ mappings:mapping[] why:any~ reason:reason~ machine:machine[]~ "
      "sources:source[]~ search:search?~ diagnostics:diagnostic[]"));
  result["properties"]["schema"] = Json{{"const", kResultSchema}};
  result["properties"]["status"] = statuses();
  for (const Definition& definition : kDefinitions)
    result["$defs"][definition.name] = object_of(definition.fields);
  result["$defs"]["names"] = list_of(Json{{"type", "string"}});
  result["$defs"]["breakdown"] = Json{{"type", "object"}};
  result["$defs"]["node"] = node_definition();
  result["$defs"]["mapping"] = Json{
      {"anyOf", Json::array({reference("priced"), reference("refused"), reference("executed")})}};
  constexpr int kIndent = 2;
  return result.dump(kIndent) + "\n";
}

}  // namespace sluice
