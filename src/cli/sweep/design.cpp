#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/commands/commands.h"
#include "cli/commands/publish.h"
#include "cli/io/failure.h"
#include "cli/io/interrupt.h"
#include "cli/io/leftovers.h"
#include "cli/io/output_folder.h"
#include "sluice/sweep/design.h"
#include "sweep/design/design_text.h"

namespace sluice::cli {
namespace {

DesignRequest request_of(const DesignArguments& arguments, const LoadOptions& options) {
  DesignRequest request = value_or_fail(read_design(arguments.file, options));
  request.energy_file = arguments.specs.energy_file;
  for (const auto& [name, value] : variables_of(arguments.specs.assignments))
    request.settings.emplace_back(name, value);
  for (const auto& [name, value] : arguments.options) request.options[name] = value;
  return request;
}

void write_design(const DesignResult& result, const std::string& output) {
  const std::filesystem::path folder = output;
  if (result.best) {
    write_atomically(folder / "arch.yaml", result.best->arch);
    for (std::size_t w = 0; w < result.best->outcomes.size(); ++w)
      write_atomically(folder / fmt::format("mapping_{}.yaml", w + 1),
                       result.best->outcomes[w].mapping);
  }
  write_atomically(folder / "result.json", document_text(result));
}

}  // namespace

DesignResult find_design(const DesignArguments& arguments, const DesignControl& control) {
  const LoadOptions options = load_options(arguments.specs);
  return value_or_fail(design_search(request_of(arguments, options), options, control));
}

ExitCode run_design(const DesignArguments& arguments, const Console& console) {
  prepare_output(arguments.output);
  const InterruptGuard interrupt;
  ProgressLine progress(console, arguments.progress);
  DesignControl control;
  control.leftovers = &leftovers();
  control.cancel = &interrupt.flag();
  if (arguments.progress != ProgressStyle::kNone)
    control.progress = [&](const DesignProgress& now) {
      progress.show(
          now.phase, now.fraction,
          {.text = now.best && now.bound && *now.bound > 0
                       ? fmt::format("best {:.3g} times the bound", *now.best / *now.bound)
                       : "",
           .objective = now.best,
           .bound = now.bound});
    };
  const DesignResult result = find_design(arguments, control);
  progress.clear();
  if (!arguments.output.folder.empty()) write_design(result, arguments.output.folder);
  console.out << (arguments.output.json ? document_text(result) : design_text(console, result))
              << std::flush;
  if (result.is_cancelled) return ExitCode::kInterrupted;
  return result.best ? ExitCode::kSuccess : ExitCode::kHonestNo;
}

}  // namespace sluice::cli
