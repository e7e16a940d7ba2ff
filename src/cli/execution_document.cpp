#include "execution_document.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "result_document.h"
#include "sluice/support/version.h"

namespace sluice::cli {
namespace {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json count_rows(const Execution& execution, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const CountRow& row : execution.counts)
    rows.push_back(
        {{"component", problem.arch[row.component].name},
         {"einsum", problem.workload[row.einsum].name},
         {"tensor", row.tensor ? Json(problem.workload[*row.tensor].name) : Json(nullptr)},
         {"action", row.action},
         {"count", row.count},
         {"bits", row.tensor ? Json(row.bits) : Json(nullptr)}});
  return rows;
}

Json network_rows(const Execution& execution, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const NetworkCount& row : execution.networks)
    rows.push_back({{"component", problem.arch[row.component].name},
                    {"einsum", problem.workload[row.einsum].name},
                    {"tensor", problem.workload[row.tensor].name},
                    {"kind", row.implicit ? "implicit" : "explicit"},
                    {"volume_bits", row.volume_bits},
                    {"bit_hops", row.bit_hops},
                    {"latency_hops", row.latency_hops}});
  return rows;
}

Json occupancy_rows(const Execution& execution, const BoundProblem& problem) {
  Json rows = Json::array();
  for (const PeakOccupancy& row : execution.occupancy)
    rows.push_back({{"component", problem.arch[row.component].name},
                    {"peak_bits", finite_or_null(row.peak_bits)},
                    {"capacity_bits", finite_or_null(row.capacity_bits)}});
  return rows;
}

/// Null where the model cannot say.
Json verdict(const Evaluation& evaluation) {
  const bool is_unknown = !evaluation && is_unpriced(evaluation.error());
  return is_unknown ? Json(nullptr) : Json(evaluation.has_value());
}

Json mapping_entry(const ExecutedMapping& mapping, const BoundProblem& problem) {
  const Execution& execution = mapping.execution;
  Json complaints = Json::array();
  for (const Complaint& complaint : execution.complaints)
    complaints.push_back(
        {{"kind", complaint_name(complaint.kind)}, {"message", complaint.message}});
  const NumericCheck& numbers = execution.numbers;
  return {{"legal", execution.is_legal()},
          {"complaints", complaints},
          {"counts", count_rows(execution, problem)},
          {"networks", network_rows(execution, problem)},
          {"occupancy", occupancy_rows(execution, problem)},
          {"numbers",
           {{"compared", numbers.compared},
            {"exact", numbers.exact},
            {"differing", numbers.differing},
            {"largest_relative_error", finite_or_null(numbers.largest_relative_error)}}},
          {"merge_values", execution.merge_values},
          {"padding_values", execution.padding_values},
          {"compute_steps", execution.compute_steps},
          {"model",
           {{"agrees", mapping.disagreements.empty()},
            {"legal", verdict(mapping.evaluation)},
            {"disagreements", mapping.disagreements}}},
          {"mapping", mapping_to_json(mapping.mapping, problem.workload, problem.arch)}};
}

}  // namespace

RunStatus status_of(const ExecutionResult& result) {
  RunStatus status = RunStatus::kOk;
  for (const ExecutedMapping& mapping : result.mappings) {
    const Execution& execution = mapping.execution;
    if (!execution.is_legal() && !execution.is_unsupported()) return RunStatus::kIllegal;
    if (execution.is_unsupported())
      status = RunStatus::kNotRun;
    else if (!mapping.evaluation && is_unpriced(mapping.evaluation.error()) &&
             status == RunStatus::kOk)
      status = RunStatus::kUnpriced;
  }
  return status;
}

std::string execution_document_text(const ExecutionResult& result) {
  Json mappings = Json::array();
  for (const ExecutedMapping& mapping : result.mappings)
    mappings.push_back(mapping_entry(mapping, result.problem));
  const bool has_arch = !result.problem.arch.components.empty();
  const Json document = {{"schema", kResultSchema},
                         {"sluice", version()},
                         {"command", "execute"},
                         {"status", status_name(status_of(result))},
                         {"workload", result.problem.workload.name},
                         {"arch", has_arch ? Json(result.problem.arch.name) : Json(nullptr)},
                         {"seed", result.seed},
                         {"mappings", mappings},
                         {"diagnostics", diagnostics_to_json(result.diagnostics)}};
  return document_text(document);
}

namespace {

constexpr int kMemoryProcess = 1;

std::string step_name(const ExecutionStep& step, const BoundProblem& problem) {
  const std::string& einsum = problem.workload[step.einsum].name;
  switch (step.kind) {
    case ExecutionStep::Kind::kFill:
      return "fill " + step.points;
    case ExecutionStep::Kind::kDrain:
      return "drain " + step.points;
    case ExecutionStep::Kind::kCollective:
      return "collective " + step.points;
    default:
      return einsum + " " + step.points;
  }
}

/// A row (thread) for each component.
Json row_names(const BoundProblem& problem) {
  Json events = Json::array();
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", kMemoryProcess},
                      {"tid", c},
                      {"args", {{"name", problem.arch.components[c].name}}}});
  return events;
}

Json reservation_event(const ExecutionStep& step, const BoundProblem& problem, std::int64_t now,
                       std::map<ComponentId, double>& reserved) {
  double& bits = reserved[*step.to];
  bits += step.kind == ExecutionStep::Kind::kReserve ? step.bits : -step.bits;
  return {{"name", "reserved in " + problem.arch[*step.to].name},
          {"ph", "C"},
          {"pid", kMemoryProcess},
          {"ts", now},
          {"args", {{"bits", bits}}}};
}

}  // namespace

std::string trace_text(const Execution& execution, const BoundProblem& problem) {
  Json events = row_names(problem);
  std::map<ComponentId, double> reserved;
  std::int64_t now = 0;
  for (const ExecutionStep& step : execution.steps) {
    if (step.kind == ExecutionStep::Kind::kReserve || step.kind == ExecutionStep::Kind::kRelease) {
      events.push_back(reservation_event(step, problem, now, reserved));
      continue;
    }
    const std::int64_t duration = std::max<std::int64_t>(1, std::max(step.read, step.written));
    const bool is_compute = step.kind == ExecutionStep::Kind::kCompute;
    Json arguments = {{"einsum", problem.workload[step.einsum].name},
                      {"loop_steps", step.loop_steps},
                      {"instances", step.instances}};
    if (!is_compute) {
      arguments["from"] = problem.arch[*step.from].name;
      arguments["to"] = problem.arch[*step.to].name;
      arguments["values_read"] = step.read;
      arguments["values_written"] = step.written;
    }
    events.push_back({{"name", step_name(step, problem)},
                      {"cat", is_compute ? "compute" : "transfer"},
                      {"ph", "X"},
                      {"ts", now},
                      {"dur", is_compute ? 1 : duration},
                      {"pid", kMemoryProcess},
                      {"tid", (is_compute ? *step.from : *step.to).index()},
                      {"args", arguments}});
    now += is_compute ? 1 : duration;
  }
  return document_text(Json{{"displayTimeUnit", "ms"}, {"traceEvents", events}});
}

}  // namespace sluice::cli
