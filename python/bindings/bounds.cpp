#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/commands.h"
#include "loaded.h"
#include "report/text/bounds_table.h"
#include "runs.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

/// What no mapping needs less of, as `sluice bounds` finds it.
nb::dict bounds_of(const Loaded& loaded, const std::map<std::string, std::string>& options,
                   const std::string& vary) {
  cli::BoundsArguments arguments;
  arguments.specs = loaded.arguments();
  arguments.options = options;
  arguments.vary = vary;
  std::ostringstream out, err;
  const cli::Console console{out, err};
  std::atomic<bool> cancel{false};
  const RunNews news;
  Raised nothing;
  cli::BoundsReport report;
  const RunEnd end = run_watched([&] { report = cli::find_bounds(arguments, console, cancel); },
                                 cancel, news, nothing, nb::none());
  nb::dict parts;
  parts["document"] = cli::document_text(cli::bounds_document(report));
  parts["summary"] = cli::bounds_table(console, report);
  parts["is_interrupted"] = end.is_interrupted;
  return parts;
}

}  // namespace

void bind_bounds(nb::module_& module) {
  module.def("bounds", &bounds_of, nb::arg("specs"), nb::arg("options"), nb::arg("vary"));
}

}  // namespace sluice::python
