#include "execution_summary.h"

#include <fmt/format.h>

#include <cmath>

#include "support/printable_text.h"

namespace sluice::cli {
namespace {

std::string numbers_line(const NumericCheck& numbers) {
  if (numbers.compared == 0) return "numbers: none to compare";
  if (numbers.differing > 0)
    return fmt::format("numbers: {} of {} values differ from the plain evaluation",
                       numbers.differing, numbers.compared);
  if (numbers.exact == numbers.compared)
    return fmt::format("numbers: all {} values equal the plain evaluation, to the last bit",
                       numbers.compared);
  return fmt::format(
      "numbers: all {} values equal the plain evaluation, {} to the last bit, the others within "
      "{:.1e}",
      numbers.compared, numbers.exact, numbers.largest_relative_error);
}

std::string count_table(const Execution& execution, const BoundProblem& problem) {
  std::string text = fmt::format("  {:<12} {:<16} {:<12} {:<8} {:>12}\n", "Einsum", "component",
                                 "tensor", "action", "count");
  for (const CountRow& row : execution.counts)
    text +=
        fmt::format("  {:<12} {:<16} {:<12} {:<8} {:>12}\n", problem.workload[row.einsum].name,
                    problem.arch[row.component].name,
                    row.tensor ? problem.workload[*row.tensor].name : "", row.action, row.count);
  return text;
}

std::string network_table(const Execution& execution, const BoundProblem& problem) {
  std::string text = fmt::format("  {:<12} {:<16} {:<12} {:>12} {:>12} {:>12}\n", "Einsum",
                                 "network", "tensor", "bits", "bit hops", "latency hops");
  for (const NetworkCount& row : execution.networks)
    text += fmt::format("  {:<12} {:<16} {:<12} {:>12} {:>12} {:>12}\n",
                        problem.workload[row.einsum].name, problem.arch[row.component].name,
                        problem.workload[row.tensor].name, row.volume_bits, row.bit_hops,
                        row.latency_hops);
  return text;
}

std::string mapping_text(const Console& console, const ExecutedMapping& mapping,
                         const BoundProblem& problem) {
  const Execution& execution = mapping.execution;
  std::string text;
  if (!execution.is_legal())
    text += inked(console, Ink::kRed,
                  execution.is_unsupported() ? "the mapping was not run:"
                                             : "the mapping does not run as it should:") +
            "\n";
  for (const Complaint& complaint : execution.complaints)
    text += fmt::format("  {}: {}\n", complaint_name(complaint.kind), complaint.message);
  if (execution.is_unsupported()) return text;
  text += numbers_line(execution.numbers) + "\n";
  if (execution.counts.empty()) return text;
  text += "\n" + inked(console, Ink::kBold, "Counts") + "\n" + count_table(execution, problem);
  if (execution.padding_values > 0)
    text += fmt::format("  {} of the values moved lie outside a rank: padding\n",
                        execution.padding_values);
  if (execution.merge_values > 0)
    text +=
        fmt::format("  {} reads to merge partial sums are not counted\n", execution.merge_values);
  if (!execution.networks.empty())
    text +=
        "\n" + inked(console, Ink::kBold, "Networks") + "\n" + network_table(execution, problem);
  text += "\n" + inked(console, Ink::kBold, "Peak occupancy") + "\n";
  for (const PeakOccupancy& row : execution.occupancy)
    text += fmt::format(
        "  {:<16} {:>12} bits{}\n", problem.arch[row.component].name, row.peak_bits,
        std::isfinite(row.capacity_bits) ? fmt::format(" of {}", row.capacity_bits) : "");
  return text;
}

}  // namespace

std::string execution_summary(const Console& console, const ExecutionResult& result) {
  std::string text =
      printable_text(result.problem.workload.name + " on " + result.problem.arch.name) + "\n";
  for (std::size_t i = 0; i < result.mappings.size(); ++i) {
    const ExecutedMapping& mapping = result.mappings[i];
    if (result.mappings.size() > 1) text += fmt::format("\nmapping {}\n", i + 1);
    text += mapping_text(console, mapping, result.problem);
    if (mapping.execution.is_unsupported()) continue;  // nothing to compare
    text += "\n";
    if (mapping.execution.is_legal() && !mapping.evaluation && mapping.disagreements.empty()) {
      text += "the model does not price it:\n";
      for (const Violation& violation : mapping.evaluation.error())
        text += "  " + violation.message + "\n";
      continue;
    }
    if (mapping.disagreements.empty()) {
      text += mapping.execution.is_legal() ? "the model says the same\n"
                                           : "the model calls it illegal, too\n";
      continue;
    }
    text += inked(console, Ink::kRed, "the model says something else:") + "\n";
    for (const std::string& line : mapping.disagreements) text += "  " + line + "\n";
  }
  return text;
}

}  // namespace sluice::cli
