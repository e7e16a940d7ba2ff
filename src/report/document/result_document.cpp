#include "result_document.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "account_rows.h"
#include "disagreements.h"
#include "explanation_json.h"
#include "mapper/request/search_space.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/efficiency.h"
#include "sluice/support/error.h"
#include "sluice/support/machine_memory.h"
#include "sluice/support/version.h"
#include "support/printable_text.h"

namespace sluice::cli {
namespace {

/// JSON has no infinity: a bound that is not there is null.
Json number_or_null(const std::optional<double>& value) {
  return value ? finite_or_null(*value) : Json(nullptr);
}

Json energy_row(const EnergyRow& row, const BoundProblem& problem) {
  return {{"component", problem.arch[row.component].name},
          {"einsum", problem.workload[row.einsum].name},
          {"tensor", row.tensor ? Json(problem.workload[*row.tensor].name) : Json(nullptr)},
          {"action", row.action},
          {"count", number_or_null(row.count)},
          {"bits", number_or_null(row.bits)},
          {"actions", finite_or_null(row.actions)},
          {"energy_j", finite_or_null(row.energy_j)}};
}

Json energy_rows(const Cost& cost, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const EnergyRow& row : cost.energy) rows.push_back(energy_row(row, problem));
  return rows;
}

Json latency_rows(const Cost& cost, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const LatencyRow& row : cost.latency)
    rows.push_back({{"einsum", problem.workload[row.einsum].name},
                    {"component", problem.arch[row.component].name},
                    {"latency_s", finite_or_null(row.latency_s)}});
  return rows;
}

Json occupancy_rows(const Cost& cost, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const OccupancyRow& row : cost.occupancy)
    rows.push_back({{"component", problem.arch[row.component].name},
                    {"peak_bits", finite_or_null(row.peak_bits)},
                    {"capacity_bits", finite_or_null(row.capacity_bits)}});
  return rows;
}

/// What moves over networks; `implicit` ones are transfers between a memory and what is below it.
Json collective_rows(const Cost& cost, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const NetworkRow& row : cost.networks)
    rows.push_back({{"kind", row.implicit ? "implicit" : "explicit"},
                    {"component", problem.arch[row.component].name},
                    {"einsum", problem.workload[row.einsum].name},
                    {"tensor", problem.workload[row.tensor].name},
                    {"volume_bits", finite_or_null(row.volume_bits)},
                    {"bit_hops", finite_or_null(row.bit_hops)},
                    {"latency_hops", finite_or_null(row.latency_hops)}});
  return rows;
}

Json collective_times(const Cost& cost, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const CollectiveRow& row : cost.collectives)
    rows.push_back({{"einsum", problem.workload[row.einsum].name},
                    {"tensor", problem.workload[row.tensor].name},
                    {"type", row.type},
                    {"component", problem.arch[row.memory].name},
                    {"over", row.over},
                    {"algorithm", row.algorithm},
                    {"combined_values", finite_or_null(row.combined_values)},
                    {"latency_s", finite_or_null(row.latency_s)}});
  return rows;
}

Json fusion_groups(const Cost& cost, const Workload& workload) {
  Json groups = Json::array();
  for (const std::vector<EinsumId>& group : cost.fusion_groups) {
    Json names = Json::array();
    for (const EinsumId einsum : group) names.push_back(workload[einsum].name);
    groups.push_back(std::move(names));
  }
  return groups;
}

Json breakdown_or_null(const LatencyBreakdown& parts) {
  if (parts.empty()) return nullptr;
  Json result = Json::object();
  for (const LatencyPart& part : parts) result[part.name + "_s"] = finite_or_null(part.seconds);
  return result;
}

Json utilisation_rows(const std::vector<Utilisation>& utilisation, const Arch& arch) {
  Json rows = Json::array();
  for (const Utilisation& row : utilisation)
    rows.push_back({{"component", arch[row.component].name},
                    {"of_peak", number_or_null(row.of_peak)},
                    {"busy", number_or_null(row.busy)}});
  return rows;
}

Json roofline_to_json(const std::optional<Roofline>& roofline, const Arch& arch) {
  if (!roofline) return nullptr;
  return {{"component", arch[roofline->memory].name},
          {"operations_per_bit", roofline->operations_per_bit},
          {"ridge_operations_per_bit", roofline->ridge_operations_per_bit},
          {"operations_per_s", roofline->operations_per_s},
          {"roof_operations_per_s", roofline->roof_operations_per_s},
          {"bound_by", roofline->is_compute_bound() ? "compute" : "memory"}};
}

Json operations_by_einsum(const Workload& workload) {
  Json rows = Json::array();
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    rows.push_back({{"einsum", workload.einsums[e].name},
                    {"operations", finite_or_null(operations_of(workload, EinsumId(e)))}});
  return rows;
}

Json efficiency_to_json(const Efficiency& efficiency, const BoundProblem& problem) {
  const Arch& arch = problem.arch;
  return {{"operations", finite_or_null(efficiency.operations)},
          {"operations_by_einsum", operations_by_einsum(problem.workload)},
          {"operations_per_s", number_or_null(efficiency.operations_per_s)},
          {"operations_per_j", number_or_null(efficiency.operations_per_j)},
          {"power_w", number_or_null(efficiency.power_w)},
          {"utilisation", utilisation_rows(efficiency.utilisation, arch)},
          {"roofline", roofline_to_json(efficiency.roofline, arch)}};
}

Json cost_to_json(const Cost& cost, const BoundProblem& problem) {
  return {{"energy_j", finite_or_null(cost.energy_j)},
          {"latency_s", finite_or_null(cost.latency_s)},
          {"latency_cycles", number_or_null(cost.latency_cycles)},
          {"breakdown", breakdown_or_null(cost.breakdown)},
          {"edp_js", finite_or_null(cost.edp_js())},
          {"area_m2", number_or_null(cost.area_m2)},
          {"leak_energy_j", finite_or_null(cost.leak_energy_j)},
          {"efficiency", efficiency_to_json(efficiency(problem, cost), problem)},
          {"energy", energy_rows(cost, problem)},
          {"latency", latency_rows(cost, problem)},
          {"collectives", collective_rows(cost, problem)},
          {"collective_latency", collective_times(cost, problem)},
          {"occupancy", occupancy_rows(cost, problem)},
          {"bounds",
           {{"compute_s", finite_or_null(cost.bounds.compute_s)},
            {"memory_s", finite_or_null(cost.bounds.memory_s)},
            {"energy_floor_j", finite_or_null(cost.bounds.energy_floor_j)}}},
          {"fusion_groups", fusion_groups(cost, problem.workload)},
          {"unpriced_merge_values", finite_or_null(cost.unpriced_merge_values)},
          {"padding_values", finite_or_null(cost.padding_values)}};
}

std::string violation_name(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::kCapacity:
      return "capacity";
    case ViolationKind::kMissingStorage:
      return "missing_storage";
    case ViolationKind::kForbiddenStorage:
      return "forbidden_storage";
    case ViolationKind::kIndivisibleLoop:
      return "indivisible_loop";
    case ViolationKind::kRecomputation:
      return "recomputation";
    case ViolationKind::kFanout:
      return "fanout";
    case ViolationKind::kStorageOrder:
      return "storage_order";
    case ViolationKind::kCompute:
      return "compute";
    case ViolationKind::kUnsupportedNode:
      return "unsupported_node";
    case ViolationKind::kCollective:
      return "collective";
    case ViolationKind::kCoverage:
      return "coverage";
    case ViolationKind::kDependency:
      return "dependency";
    case ViolationKind::kConstraint:
      return "constraint";
  }
  fail_internal_check("ViolationKind", __FILE__, __LINE__, "a violation without a name");
}

Json tensor_names(const std::vector<TensorId>& tensors, const Workload& workload) {
  Json names = Json::array();
  for (const TensorId tensor : tensors) names.push_back(workload[tensor].name);
  return names;
}

Json component_name(const std::optional<ComponentId>& component, const Arch& arch) {
  return component ? Json(arch[*component].name) : Json(nullptr);
}

Json einsum_name(const std::optional<EinsumId>& einsum, const Workload& workload) {
  return einsum ? Json(workload[*einsum].name) : Json(nullptr);
}

Json outcomes_to_json(const RunResult& result) {
  Json entries = Json::array();
  for (const MappingOutcome& outcome : result.outcomes)
    entries.push_back(outcome_to_json(outcome, *result.problem));
  return entries;
}

/// How far above the bound the first mapping is; infinite where the bound is zero.
Json found_over_bound(const RunResult& result) {
  if (result.outcomes.empty() || !result.outcomes.front().cost) return nullptr;
  const double found =
      objective_value(result.options->objectives.front(), *result.outcomes.front().cost);
  return finite_or_null(found / result.guarantee->bound);
}

/// What was asked for beside the keys of its own; whatever threads and memory do, the result is the
/// same.
Json options_to_json(const RunResult& result) {
  if (!result.options) return nullptr;
  Json options = Json::object();
  for (const MapperOption& option : mapper_option_table())
    if (option.name != "threads" && option.name != "memory")
      options[option.name] = option.get(*result.options);
  const Constraints& constraints = result.options->constraints;
  options["constraints"] =
      constraints == Constraints{}
          ? Json(nullptr)
          : Json(to_yaml(constraints, result.problem->workload, result.problem->arch));
  return options;
}

Json guarantee_to_json(const RunResult& result) {
  if (!result.guarantee) return nullptr;
  const Guarantee& guarantee = *result.guarantee;
  const bool has_gap = guarantee.kind == GuaranteeKind::kGap;
  return {{"kind", guarantee_name(guarantee.kind)},
          {"space", guarantee.leaves_out.empty()
                        ? guarantee.space
                        : guarantee.space + "; leaves out: " + names_of(guarantee.leaves_out)},
          {"leaves_out", limits_to_json(guarantee.leaves_out)},
          {"orders_explored", guarantee.orders_explored},
          {"orders_wanted", guarantee.orders_wanted},
          {"epsilon", guarantee.epsilon},
          {"bound", has_gap ? finite_or_null(guarantee.bound) : Json(nullptr)},
          {"found_over_bound", has_gap ? found_over_bound(result) : Json(nullptr)}};
}

/// Null for a mapper that does not search step by step.
Json convergence_to_json(const std::vector<ConvergencePoint>& points) {
  if (points.empty()) return nullptr;
  Json curve = Json::array();
  for (const ConvergencePoint& point : points)
    curve.push_back({{"evaluations", point.evaluations},
                     {"seconds", point.seconds},
                     {"objective", point.objective}});
  return curve;
}

Json search_to_json(const std::optional<SearchStatistics>& search) {
  if (!search) return nullptr;
  return {{"seconds", search->seconds},
          {"threads", search->threads},
          {"mappings_considered", finite_or_null(search->mappings_considered)},
          {"mappings_evaluated", finite_or_null(search->mappings_evaluated)},
          {"pmappings_kept", finite_or_null(search->pmappings_kept)},
          {"convergence", convergence_to_json(search->convergence)},
          {"ended_by", search->ended_by.empty() ? Json(nullptr) : Json(search->ended_by)},
          {"peak_rss_bytes", peak_resident_bytes()}};
}

Json no_mapping_to_json(const NoMapping& no, const BoundProblem& problem) {
  return {{"message", no.reason},
          {"nearest_relaxation",
           no.nearest_relaxation.empty() ? Json(nullptr) : Json(no.nearest_relaxation)},
          {"component", component_name(no.memory, problem.arch)},
          {"einsum", einsum_name(no.einsum, problem.workload)},
          {"tensors", tensor_names(no.tensors, problem.workload)},
          {"excess_bits", no.memory ? finite_or_null(no.excess_bits) : Json(nullptr)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json position_or_null(int position) { return position > 0 ? Json(position) : Json(nullptr); }

Json objective_to_json(const std::optional<MapperOptions>& options) {
  if (!options) return nullptr;
  return find_mapper_option("objective")->get(*options);
}

/// Text of a value on one line. A file name that is no UTF-8 must not keep it from being written,
/// and what no terminal shows is escaped.
std::string one_line(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!first_unprintable(text)) return text;
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);  // \u… for all beyond ASCII
}

/// Rows (objects of plain values) and lists of plain values take one line each; the rest is
/// indented.
void append_text(const Json& value, const std::string& indent, std::string& text) {
  const bool has_parts = std::any_of(value.begin(), value.end(),
                                     [](const Json& item) { return item.is_structured(); });
  if (!has_parts) {
    text += one_line(value);
    return;
  }
  const std::string deeper = indent + "  ";
  text += value.is_object() ? "{" : "[";
  const char* separator = "\n";
  for (const auto& item : value.items()) {
    text += separator + deeper;
    if (value.is_object()) text += one_line(item.key()) + ": ";
    append_text(item.value(), deeper, text);
    separator = ",\n";
  }
  text += "\n" + indent + (value.is_object() ? "}" : "]");
}

}  // namespace

Json outcome_to_json(const MappingOutcome& outcome, const BoundProblem& problem) {
  Json entry = Json::object();
  if (outcome.cost) {
    entry = cost_to_json(*outcome.cost, problem);
    entry["node_sizes"] = node_size_rows(outcome.mapping, problem);
    entry["occupancy_over_time"] = occupancy_over_time_json(outcome.mapping, problem);
  } else {
    entry["violations"] = Json::array();
    for (const Violation& violation : outcome.cost.error())
      entry["violations"].push_back(
          violation_to_json(violation, outcome.mapping, outcome.places, problem));
  }
  entry["mapping"] = mapping_to_json(outcome.mapping, problem.workload, problem.arch);
  return entry;
}

Json violation_to_json(const Violation& violation, const Mapping& mapping,
                       const MappingPlaces& places, const BoundProblem& problem) {
  const bool is_capacity = violation.kind == ViolationKind::kCapacity;
  const NodePlace* place = place_of(mapping, places, violation.node_path);
  const SourceLocation location = place ? place->location : SourceLocation{};
  return {{"kind", violation_name(violation.kind)},
          {"message", violation.message},
          {"component", component_name(violation.component, problem.arch)},
          {"einsum", einsum_name(violation.einsum, problem.workload)},
          {"tensors", tensor_names(violation.tensors, problem.workload)},
          {"excess_bits", is_capacity ? finite_or_null(violation.excess_bits) : Json(nullptr)},
          {"node_path", violation.node_path},
          {"file", text_or_null(location.file)},
          {"line", position_or_null(location.line)},
          {"column", position_or_null(location.column)}};
}

Json limits_to_json(const std::vector<SpaceLimit>& limits) {
  Json list = Json::array();
  for (const SpaceLimit& limit : limits)
    list.push_back({{"name", limit.name}, {"text", limit.text}});
  return list;
}

Json diagnostics_to_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics)
    list.push_back({{"severity", to_string(diagnostic.severity)},
                    {"file", text_or_null(diagnostic.location.file)},
                    {"line", position_or_null(diagnostic.location.line)},
                    {"column", position_or_null(diagnostic.location.column)},
                    {"message", diagnostic.message},
                    {"source_line", text_or_null(diagnostic.source_line)},
                    {"hint", text_or_null(diagnostic.hint)}});
  return list;
}

std::string guarantee_name(GuaranteeKind kind) {
  switch (kind) {
    case GuaranteeKind::kOptimal:
      return "optimal";
    case GuaranteeKind::kWithinEpsilon:
      return "within_epsilon";
    case GuaranteeKind::kGap:
      return "gap";
    case GuaranteeKind::kNone:
      return "none";
  }
  fail_internal_check("GuaranteeKind", __FILE__, __LINE__, "a guarantee without a name");
}

namespace {

/// Prices of the architecture and where they come from; null: its own file.
class SourceRows {
 public:
  explicit SourceRows(const RunResult& result) : result_(result) {}

  Json rows() {
    for (const Component& component : result_.problem->arch.components) {
      for (const Action& action : component.actions) add(component, action.name, action.energy_j);
      if (const auto* network = std::get_if<Network>(&component.kind))
        add(component, "hop_energy", network->hop_energy_j);
      if (component.leak_power_w != 0) add(component, "leak_power", component.leak_power_w);
      if (component.area_m2) add(component, "area", *component.area_m2);
    }
    return std::move(rows_);
  }

 private:
  void add(const Component& component, const std::string& number, double value) {
    const auto known = std::find_if(
        result_.sources.begin(), result_.sources.end(), [&](const NumberSource& source) {
          return source.component == component.name && source.number == number;
        });
    const bool is_known = known != result_.sources.end();
    rows_.push_back({{"component", component.name},
                     {"number", number},
                     {"value", finite_or_null(value)},
                     {"source", is_known ? Json(known->source) : Json(nullptr)}});
  }

  const RunResult& result_;
  Json rows_ = Json::array();
};

}  // namespace

Json to_document(const RunResult& result) {
  const BoundProblem* problem = result.problem ? &*result.problem : nullptr;
  Json document = {{"schema", kResultSchema},
                   {"sluice", version()},
                   {"command", result.command},
                   {"status", status_name(result.status)},
                   {"workload", problem ? text_or_null(problem->workload.name) : Json(nullptr)},
                   {"arch", problem ? text_or_null(problem->arch.name) : Json(nullptr)},
                   {"mapper", result.options ? Json(result.options->mapper) : Json(nullptr)},
                   {"objective", objective_to_json(result.options)},
                   {"latency_policy", result.latency.name()},
                   {"seed", result.options ? Json(result.options->seed) : Json(nullptr)},
                   {"options", options_to_json(result)},
                   {"guarantee", guarantee_to_json(result)},
                   {"mappings", outcomes_to_json(result)}};
  if (result.why) document["why"] = explanation_to_json(*result.why, *problem);
  if (result.no_mapping) document["reason"] = no_mapping_to_json(*result.no_mapping, *problem);
  if (problem) document["machine"] = machine_rows(problem->arch);
  if (problem) document["sources"] = SourceRows(result).rows();
  document["search"] = search_to_json(result.search);
  document["diagnostics"] = diagnostics_to_json(result.diagnostics);
  return document;
}

std::string document_text(const Json& document) {
  std::string text;
  append_text(document, "", text);
  return text + "\n";
}

Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value + 0.0) : Json(nullptr);  // 0, not -0
}

}  // namespace sluice::cli

namespace sluice {

std::string status_name(RunStatus status) {
  switch (status) {
    case RunStatus::kOk:
      return "ok";
    case RunStatus::kIllegal:
      return "illegal";
    case RunStatus::kUnpriced:
      return "unpriced";
    case RunStatus::kNotRun:
      return "not_run";
    case RunStatus::kNoMapping:
      return "no_mapping";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kError:
      return "error";
  }
  fail_internal_check("RunStatus", __FILE__, __LINE__, "a status without a name");
}

void add_violations(const std::vector<Violation>& violations, RunStatus& status) {
  if (!cli::is_unpriced(violations))
    status = RunStatus::kIllegal;
  else if (status == RunStatus::kOk)
    status = RunStatus::kUnpriced;
}

std::string document_text(const RunResult& result) {
  return cli::document_text(cli::to_document(result));
}

}  // namespace sluice
