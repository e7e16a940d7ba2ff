#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <tuple>

#include "cli/io/failure.h"
#include "commands.h"
#include "constrained.h"
#include "report/document/result_document.h"
#include "report/text/console.h"
#include "sluice/sweep/design.h"
#include "support/printable_text.h"
#include "sweep/design/design_grid.h"
#include "sweep/plan/section_file.h"

namespace sluice::cli {
namespace {

/// `workload gpt3 (29 Einsums, 45 tensors), architecture tpu_v4i (7 components), 1 mapping`
std::string contents(const Specs& specs) {
  std::vector<std::string> parts;
  if (specs.workload)
    parts.push_back(fmt::format("workload {} ({}, {})", specs.workload->name,
                                counted(specs.workload->einsums.size(), "Einsum"),
                                counted(specs.workload->tensors.size(), "tensor")));
  if (specs.arch)
    parts.push_back(fmt::format("architecture {} ({})", specs.arch->name,
                                counted(specs.arch->components.size(), "component")));
  if (!specs.mappings.empty()) parts.push_back(counted(specs.mappings.size(), "mapping"));
  if (specs.constraints) parts.emplace_back("constraints");
  if (!specs.mapper_options.empty())
    parts.push_back(counted(specs.mapper_options.size(), "search option"));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

/// `WQ, WK and 10 more`
std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  if (names.size() <= kMost + 1) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost, ", "),
                     names.size() - kMost);
}

/// `gradients of WQ, WK; none of X`: which inputs of the workload a training step learns.
std::string gradients_of_inputs(const Workload& step, Optimizer optimizer) {
  const TensorRoles roles = tensor_roles(step);
  std::vector<std::string> with, without;
  std::set<std::string> added;  // inputs of the step alone: moments of the optimizer
  for (std::size_t t = 0; t < step.tensors.size(); ++t) {
    const std::string& name = step.tensors[t].name;
    if (roles.is_made(TensorId(t)) || name.starts_with(gradient_name(""))) continue;
    const auto gradient = find_tensor(step, gradient_name(name));
    const bool has_one = gradient && roles.is_made(*gradient);
    (has_one ? with : without).push_back(name);
    if (has_one && optimizer == Optimizer::kAdam) added.insert({name + "_m", name + "_v"});
  }
  std::erase_if(without, [&](const std::string& name) { return added.contains(name); });
  return fmt::format("gradients of {}{}", first_names(with),
                     without.empty() ? "" : fmt::format("; none of {}", first_names(without)));
}

/// Every reason why one of the mappings is illegal, or cannot be priced.
Diagnostics mistakes_of_mappings(const Specs& specs, const BoundProblem& problem,
                                 RunStatus& status) {
  Diagnostics mistakes;
  std::set<std::tuple<std::string, int, int>> known;  // message and place tell all
  for (std::size_t i = 0; i < specs.mappings.size(); ++i) {
    const auto cost = evaluate_constrained(problem, specs.mappings[i], LatencyPolicy::kOverlap,
                                           specs.constraints);
    if (cost) continue;
    add_violations(cost.error(), status);
    for (const Violation& violation : cost.error()) {
      const bool is_unknown = violation.kind == ViolationKind::kUnsupportedNode;
      Diagnostic mistake = mistake_at(
          specs, i, violation,
          fmt::format("mapping {} {}: {}", i + 1,
                      is_unknown ? "cannot be priced yet" : "is illegal", violation.message));
      if (is_unknown) mistake.severity = Severity::kWarning;
      if (known.emplace(mistake.message, mistake.location.line, mistake.location.column).second)
        mistakes.push_back(mistake);
    }
  }
  return mistakes;
}

/// Of a file with a sweep or designs: how many variants of specs it has, all without a mistake.
std::optional<std::string> contents_of_variants(const SpecArguments& arguments) {
  const std::vector<std::string> files = resolve_files(arguments.names, arguments.texts);
  if (files.empty()) return std::nullopt;
  const LoadOptions options = load_options(arguments);
  if (has_section(files.front(), "sweep", options)) {
    const auto request = value_or_fail(read_sweep(files.front(), options));
    const auto plan = value_or_fail(plan_sweep(request, options));
    return counted(plan.points.size(), "point") + " of a sweep";
  }
  if (!has_section(files.front(), "design", options)) return std::nullopt;
  const auto request = value_or_fail(read_design(files.front(), options));
  const auto grid = value_or_fail(design_grid(request, options));
  return fmt::format("{}, {}", counted(grid.designs.size(), "design"),
                     counted(grid.workloads.size(), "workload"));
}

}  // namespace

ExitCode run_check(const CheckArguments& arguments, const Console& console) {
  RunResult result;
  result.command = "check";
  if (const auto variants = contents_of_variants(arguments.specs)) {
    console.out << (arguments.json ? document_text(result) : "ok: " + *variants + "\n");
    return ExitCode::kSuccess;
  }
  const Specs specs = load(arguments.specs);
  result.diagnostics = specs.warnings;
  if (specs.workload && specs.arch) {
    result.problem =
        with_notes(specs.warnings, [&] { return bind_or_fail(specs, arguments.specs); });
    const Diagnostics mistakes = mistakes_of_mappings(specs, *result.problem, result.status);
    result.diagnostics.insert(result.diagnostics.end(), mistakes.begin(), mistakes.end());
  }
  print_diagnostics(console, result.diagnostics);
  std::string gradients;
  if (arguments.specs.is_training && specs.workload)
    gradients = gradients_of_inputs(*specs.workload, arguments.specs.training.optimizer);
  if (arguments.json && !gradients.empty()) {
    result.diagnostics.push_back(error_without_place(gradients));
    result.diagnostics.back().severity = Severity::kNote;
  }
  if (arguments.json)
    console.out << document_text(result);
  else if (result.status == RunStatus::kOk)
    console.out << "ok: " << printable_text(contents(specs)) << "\n"
                << (gradients.empty() ? "" : printable_text(gradients) + "\n");
  return exit_code_of(result.status);
}

}  // namespace sluice::cli
