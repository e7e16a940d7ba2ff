#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sluice/frontend/import.h"
#include "sluice/frontend/load.h"

namespace sluice {

/// Names of the texts of ImportedSpecs in diagnostics.
constexpr const char* kImportedWorkload = "imported/workload.yaml";
constexpr const char* kImportedArch = "imported/arch.yaml";
constexpr const char* kImportedMapping = "imported/mapping.yaml";
constexpr const char* kImportedConstraints = "imported/constraints.yaml";

/// Files of one job of another tool, translated.
struct ImportedJob {
  ImportedSpecs specs;
  bool has_templates = false;
  std::set<std::string> variables;  ///< that the files know, of those that `--set` may give
  /// Where what stands in one of the texts stands in the user's files.
  std::function<std::optional<NodePlace>(const SourceLocation&)> place_of;
};

Result<ImportedJob> import_job(const std::vector<std::string>& files, const ImportOptions& options);

/// What there is to load: mappings and constraints where their workload and architecture are.
std::vector<NamedText> texts_of(const ImportedSpecs& specs);

}  // namespace sluice
