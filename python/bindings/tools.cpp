#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/commands.h"
#include "cli/io/failure.h"
#include "loaded.h"
#include "report/document/import_document.h"
#include "runs.h"
#include "sluice/frontend/import.h"
#include "sluice/mapper/options_table.h"
#include "sluice/support/library_dir.h"
#include "sluice/support/version.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

using cli::Json;

/// Everything that is wrong with specs and their mappings, as `sluice check` says it: diagnostics
/// as JSON.
std::string check(const std::vector<std::string>& names,
                  const std::map<std::string, std::string>& texts,
                  const std::vector<std::string>& assignments,
                  const std::optional<TrainingTexts>& training, const std::string& energy_file) {
  const Unlocked unlocked;
  std::ostringstream out, err;
  cli::CheckArguments arguments;
  arguments.specs = spec_arguments(names, texts, assignments, training, energy_file);
  arguments.json = true;
  try {
    cli::run_check(arguments, cli::Console{out, err});
  } catch (const cli::Failure& failure) {
    return cli::diagnostics_to_json(failure.diagnostics()).dump();
  }
  return Json::parse(out.str()).at("diagnostics").dump();
}

/// YAML texts of another tool's specs, and notes as JSON.
std::string import_files(const std::vector<std::string>& files,
                         const std::vector<std::string>& assignments,
                         const std::string& energy_file, const std::string& python) {
  const Unlocked unlocked;
  ImportOptions options;
  options.variables = cli::variables_of(assignments);
  options.energy_file = energy_file;
  options.python = python;
  const ImportedSpecs imported = cli::import_or_fail(files, options);
  return Json{{"format", imported.format},
              {"workload", imported.workload},
              {"arch", imported.arch},
              {"mapping", imported.mapping},
              {"constraints", imported.constraints},
              {"summary", imported.onnx ? cli::import_summary(*imported.onnx) : ""},
              {"inputs", imported.onnx ? cli::numbers_text(*imported.onnx) : ""},
              {"document", cli::import_document(imported, files, {})},
              {"notes", cli::diagnostics_to_json(imported.notes)}}
      .dump();
}

/// Writes the page of `sluice report`; `texts`: documents that stand in no file.
void report(const std::vector<std::string>& names, const std::map<std::string, std::string>& texts,
            const std::string& file) {
  const Unlocked unlocked;
  std::ostringstream out, err;
  cli::run_report({.results = names, .file = file, .texts = texts}, cli::Console{out, err});
}

/// What `sluice compare` prints, as JSON or for people.
std::string compare(const std::vector<std::string>& names,
                    const std::map<std::string, std::string>& texts, bool wants_json) {
  const Unlocked unlocked;
  std::ostringstream out, err;
  cli::run_compare({.results = names, .json = wants_json, .texts = texts}, cli::Console{out, err});
  return out.str();
}

/// The lines of `sluice list`.
std::string list_names(const std::string& kind) {
  std::ostringstream out, err;
  cli::run_list(kind, cli::Console{out, err});
  return out.str();
}

std::string option_table() {
  Json rows = Json::array();
  for (const MapperOption& option : mapper_option_table())
    rows.push_back({{"name", option.name},
                    {"type", option.type},
                    {"range", option.range},
                    {"default", option.get(MapperOptions{})},
                    {"help", option.help}});
  return rows.dump();
}

}  // namespace

void bind_tools(nb::module_& module) {
  module.def("check", &check, nb::arg("names"), nb::arg("texts"), nb::arg("assignments"),
             nb::arg("training").none(), nb::arg("energy_file"));
  module.def("import_files", &import_files, nb::arg("files"), nb::arg("assignments"),
             nb::arg("energy_file"), nb::arg("python"));
  module.def("report", &report, nb::arg("names"), nb::arg("texts"), nb::arg("file"));
  module.def("compare", &compare, nb::arg("names"), nb::arg("texts"), nb::arg("json"));
  module.def("list_names", &list_names, nb::arg("kind"));
  module.def("list_kinds", &cli::list_kinds);
  module.def("option_table", &option_table);
  module.def("library_dir", [] { return library_dir().string(); });
  module.def("version", [] { return std::string(version()); });
}

}  // namespace sluice::python
