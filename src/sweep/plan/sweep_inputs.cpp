#include <fmt/format.h>

#include "sluice/frontend/load_any.h"
#include "sluice/frontend/search_request.h"
#include "sluice/mapper/options_table.h"
#include "sluice/network/layers_mapper.h"
#include "sluice/support/failed.h"
#include "sluice/support/version.h"
#include "sluice/sweep/sweep.h"
#include "sweep/store/content_key.h"

namespace sluice {
namespace {

/// What is wrong with a value that only this point has came from `--vary` or the sweep's file.
Diagnostics about_point(Diagnostics diagnostics, const SweepPoint& point) {
  for (Diagnostic& diagnostic : diagnostics)
    for (const auto& [name, value] : point.settings)
      if (diagnostic.location.file == fmt::format("--set {}={}", name, value))
        diagnostic.location.file = fmt::format("--vary {}={}", name, value);
  return diagnostics;
}

Result<Specs> specs_of(const SweepRequest& request, const SweepPoint& point, LoadOptions options) {
  for (const auto& settings : {request.settings, point.settings})
    for (const auto& [name, value] : settings)
      if (name != "workload" && name != "architecture") options.variables[name] = value;
  return load_any_specs(point.files, options, request.energy_file);
}

}  // namespace

Result<SweepInputs> sweep_inputs(const SweepRequest& request, const SweepPoint& point,
                                 const LoadOptions& options) {
  auto specs = specs_of(request, point, options);
  if (!specs) return tl::unexpected(about_point(std::move(specs.error()), point));
  for (const auto& [missing, key] :
       {std::pair{!specs->workload, "workload"}, std::pair{!specs->arch, "arch"}})
    if (missing)
      return failed(
          fmt::format("none of the files {} has `{}:`", fmt::join(point.files, ", "), key),
          "a search needs a workload and an architecture");
  auto searched = search_options(request.options, *specs);
  if (!searched) return tl::unexpected(std::move(searched.error()));
  if (all_mappers().find(searched->mapper) == nullptr)
    return failed(fmt::format("there is no mapper `{}`", searched->mapper),
                  fmt::format("mappers: {}", fmt::join(all_mappers().names(), ", ")));
  auto problem = bind(*specs->workload, *specs->arch, options.collective_algorithms);
  if (!problem)
    return tl::unexpected(
        after_notes(specs->warnings, about_point(std::move(problem.error()), point)));
  if (auto unknown = unknown_price(problem->arch, *specs, *searched))
    return tl::unexpected(after_notes(specs->warnings, {std::move(*unknown)}));
  const bool is_chosen =
      request.options.contains("mapper") || specs->mapper_options.contains("mapper");
  return SweepInputs{std::move(*problem), std::move(*searched), is_chosen};
}

std::string sweep_key(const SweepInputs& inputs) {
  std::string text = fmt::format("sluice {}\n", version());
  for (const MapperOption& option : mapper_option_table())
    if (option.name != "threads" && option.name != "memory" &&
        (option.name != "mapper" || inputs.is_mapper_chosen))
      text += fmt::format("{}: {}\n", option.name, option.get(inputs.options));
  const BoundProblem& problem = inputs.problem;
  text += to_yaml(inputs.options.constraints, problem.workload, problem.arch);
  text += to_yaml(problem.workload) + to_yaml(problem.arch);
  return content_key(text);
}

}  // namespace sluice
