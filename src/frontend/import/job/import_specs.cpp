#include "sluice/frontend/import.h"

#include <algorithm>

#include "frontend/import/job/import_job.h"
#include "frontend/load/network_files.h"
#include "frontend/yaml/file_text.h"

namespace sluice {
namespace {

/// A table of layers is a job of its own.
Result<ImportedSpecs> import_table(const std::vector<std::string>& files) {
  const LoadOptions options;
  ReadContext context(options);
  if (files.size() > 1)
    context.error_about(files.back(), "a table of layers is imported alone, without other files");
  const auto text = files.size() > 1 ? std::nullopt : file_text(context, files.front());
  const auto workload = text ? workload_of_table(context, files.front(), *text) : std::nullopt;
  if (!workload) return tl::unexpected(context.take_diagnostics());
  ImportedSpecs specs;
  specs.format = "a table of layers";
  specs.workload = *workload;
  return specs;
}

}  // namespace

Result<ImportedSpecs> import_specs(const std::vector<std::string>& files,
                                   const ImportOptions& options) {
  const bool has_table = std::any_of(files.begin(), files.end(), is_network_table);
  if (has_table) return import_table(files);
  Result<ImportedJob> job = import_job(files, options);
  if (!job) return tl::unexpected(job.error());
  return std::move(job->specs);
}

}  // namespace sluice
