#include "sluice/sweep/design.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "cli/commands/commands.h"
#include "cli/io/failure.h"
#include "loaded.h"
#include "report/text/console.h"
#include "runs.h"
#include "sweep/design/design_text.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

using Names = std::vector<std::string>;
using Texts = std::map<std::string, std::string>;

DesignControl control_of(const std::atomic<bool>& cancel, RunNews& news) {
  DesignControl control;
  control.cancel = &cancel;
  control.progress = [&news](const DesignProgress& now) {
    news.tell_phase(now.phase, now.fraction);
    if (now.best) news.tell_objective(*now.best);
    if (now.bound) news.tell_bound(*now.bound);
  };
  return control;
}

/// The best design of a file, or one of the texts, with a `design:` section, as `sluice design`
/// finds it.
nb::dict design(const std::string& file, const Texts& texts, const Names& assignments,
                const std::optional<TrainingTexts>& training, const std::string& energy_file,
                const Texts& options, const nb::object& on_progress) {
  cli::DesignArguments arguments;
  arguments.file = file;
  arguments.specs = spec_arguments({}, texts, assignments, training, energy_file);
  arguments.options = options;
  std::atomic<bool> cancel{false};
  RunNews news;
  Raised nothing;
  DesignResult result;
  const RunEnd end =
      run_watched([&] { result = cli::find_design(arguments, control_of(cancel, news)); }, cancel,
                  news, nothing, on_progress);
  std::ostringstream out, err;
  nb::dict parts;
  parts["document"] = document_text(result);
  parts["summary"] = cli::design_text(cli::Console{out, err}, result);
  parts["is_interrupted"] = end.is_interrupted;
  return parts;
}

}  // namespace

void bind_design(nb::module_& module) {
  module.def("design", &design, nb::arg("file"), nb::arg("texts"), nb::arg("assignments"),
             nb::arg("training").none(), nb::arg("energy_file"), nb::arg("options"),
             nb::arg("on_progress").none());
}

}  // namespace sluice::python
