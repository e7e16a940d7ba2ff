#include "errors/outcome.h"

#include <fmt/format.h>
#include <algorithm>

#include <filesystem>

#include "sluice/model/binding.h"
#include "sluice/model/evaluate.h"

namespace sluice::testing {

std::vector<std::string> yaml_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of_mistakes(Diagnostics diagnostics) {
  std::string text;
  bool infeasible = true;
  bool unreadable = false;
  for (Diagnostic& diagnostic : diagnostics) {
    diagnostic.location.file = std::filesystem::path(diagnostic.location.file).filename().string();
    text += to_string(diagnostic);
    infeasible = infeasible && diagnostic.cause == DiagnosticCause::kInfeasible;
    unreadable = unreadable || diagnostic.cause == DiagnosticCause::kUnreadable;
  }
  return text + fmt::format("exit status {}\n", unreadable ? 3 : infeasible ? 1 : 2);
}

namespace {

std::string print(const Diagnostics& diagnostics) { return text_of_mistakes(diagnostics); }

std::string print(const std::vector<Violation>& violations, const Mapping& mapping,
                  const MappingPlaces& places) {
  std::string text;
  for (const Violation& violation : violations) {
    std::string where = "nowhere";
    if (const NodePlace* place = place_of(mapping, places, violation.node_path))
      where = fmt::format("line {}:{}", place->location.line, place->location.column);
    text += (violation.kind == ViolationKind::kUnsupportedNode ? "unpriced, " : "illegal, ") +
            where + ": " + violation.message + "\n";
  }
  const bool is_unpriced = std::all_of(
      violations.begin(), violations.end(),
      [](const Violation& violation) { return violation.kind == ViolationKind::kUnsupportedNode; });
  return text + (is_unpriced ? "exit status 4\n" : "exit status 1\n");
}

}  // namespace

std::string outcome_of(const Result<Specs>& specs) {
  if (!specs) return print(specs.error());
  if (!specs->workload || !specs->arch) return "no mistake found\n";
  const Result<BoundProblem> problem = bind(*specs->workload, *specs->arch);
  if (!problem) return print(problem.error());
  for (std::size_t m = 0; m < specs->mappings.size(); ++m)
    if (const auto cost = evaluate(*problem, specs->mappings[m]); !cost)
      return print(cost.error(), specs->mappings[m], specs->mapping_places.at(m));
  return "no mistake found\n";
}

}  // namespace sluice::testing
