#include "execution_document.h"

#include <nlohmann/json.hpp>

#include "result_document.h"
#include "sluice/support/version.h"

namespace sluice::cli {
namespace {

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

}  // namespace sluice::cli
