#include "sluice/frontend/import.h"

#include <algorithm>

#include "frontend/import/job/import_job.h"
#include "frontend/load/network_files.h"
#include "frontend/load/onnx_files.h"
#include "frontend/yaml/file_text.h"

namespace sluice {
namespace {

/// Files that are jobs of their own.
bool is_job(const std::string& file) { return is_network_table(file) || is_onnx_file(file); }

void read_table(ReadContext& context, const std::string& file, ImportedSpecs& specs) {
  const auto text = file_text(context, file);
  const auto workload = text ? workload_of_table(context, file, *text) : std::nullopt;
  specs.format = "a table of layers";
  if (workload) specs.workload = context.sources().text(*workload);
}

void read_model(ReadContext& context, const std::string& file, ImportedSpecs& specs) {
  constexpr std::size_t kLongestShown = 100;
  specs.format = "ONNX";
  specs.onnx = read_onnx_file(context, file);
  if (!specs.onnx) return;
  specs.workload = specs.onnx->workload;
  specs.notes = specs.onnx->notes;
  const Result<Specs> loaded = load_specs_from_text({{file, specs.workload}}, {});
  if (loaded) return;
  for (const Diagnostic& found : loaded.error())
    context.error_about(file, found.message, found.source_line.substr(0, kLongestShown));
}

Result<ImportedSpecs> import_alone(const std::vector<std::string>& files,
                                   const ImportOptions& options) {
  LoadOptions load_options;
  load_options.variables = options.variables;
  ReadContext context(load_options);
  ImportedSpecs specs;
  if (files.size() > 1)
    context.error_about(
        files.back(),
        "a table of layers, or an ONNX model, is imported alone, without other files");
  else
    (is_onnx_file(files[0]) ? read_model : read_table)(context, files[0], specs);
  if (context.has_errors()) return tl::unexpected(context.take_diagnostics());
  return specs;
}

}  // namespace

Result<ImportedSpecs> import_specs(const std::vector<std::string>& files,
                                   const ImportOptions& options) {
  if (std::any_of(files.begin(), files.end(), is_job)) return import_alone(files, options);
  Result<ImportedJob> job = import_job(files, options);
  if (!job) return tl::unexpected(job.error());
  return std::move(job->specs);
}

}  // namespace sluice
