#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <sstream>

#include "cli/commands/search_options.h"
#include "cli/io/failure.h"
#include "loaded.h"
#include "report/text/console.h"
#include "runs.h"
#include "sluice/sweep/sweep_table.h"
#include "sweep/table/sweep_text.h"
#include "sweep_run_text.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

using Names = std::vector<std::string>;
using Texts = std::map<std::string, std::string>;
using Grid = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Files of workloads, architectures and what is merged into all of them.
struct SweepNames {
  Names workloads, architectures, files;
};

/// As on the command line, where the first name is a workload, the second an architecture.
std::string resolved(const SweepNames& names, std::size_t position, const std::string& name,
                     const Texts& texts) {
  Names line(position, names.workloads.front());
  line.push_back(name);
  return cli::resolve_files(line, texts).back();
}

SweepRequest request_of(const SweepNames& names, const cli::SpecArguments& specs,
                        const LoadOptions& options) {
  SweepRequest request;
  Names files;
  for (const std::string& file : names.files)
    files.push_back(resolved(names, 2, file, specs.texts));
  for (const std::string& name : names.workloads)
    request.workloads.push_back(resolved(names, 0, name, specs.texts));
  for (const std::string& name : names.architectures)
    request.architectures.push_back(resolved(names, 1, name, specs.texts));
  if (is_sweep_file(request.workloads.front(), options)) {
    Names others(request.workloads.begin() + 1, request.workloads.end());
    others.insert(others.end(), request.architectures.begin(), request.architectures.end());
    files.insert(files.begin(), others.begin(), others.end());
    request = cli::value_or_fail(read_sweep(request.workloads.front(), options));
  }
  request.files.insert(request.files.end(), files.begin(), files.end());
  request.energy_file = specs.energy_file;
  for (const auto& [name, value] : cli::variables_of(specs.assignments))
    request.settings.emplace_back(name, value);
  return request;
}

/// A sweep that is planned, and the database with its runs.
class Sweep {
 public:
  Sweep(const SweepNames& names, const cli::SpecArguments& specs, const Grid& grid,
        const std::vector<SweepSettings>& points, const Texts& options, const std::string& file)
      : options_(cli::load_options(specs)),
        plan_(planned(names, specs, grid, points, options)),
        database_(cli::value_or_fail(SweepDatabase::open(file))) {
    for (std::size_t p = 0; p < plan_.points.size(); ++p)
      first_with_key_.try_emplace(plan_.points[p].key, p);
  }

  std::size_t n_points() const { return plan_.points.size(); }

  /// Searches whatever the database does not have; whether a signal ended that.
  bool run(std::size_t jobs, const nb::object& on_progress) {
    std::atomic<bool> cancel{false};
    RunNews news;
    Raised nothing;
    SweepControl control;
    control.jobs = jobs;
    control.cancel = &cancel;
    control.progress = [&news](const SweepProgress& now) {
      news.tell_phase(fmt::format("{} of {} runs", now.n_done, now.n_points),
                      static_cast<double>(now.n_done) / static_cast<double>(now.n_points));
    };
    const auto work = [&] { cli::value_or_fail(run_sweep(plan_, database_, options_, control)); };
    return run_watched(work, cancel, news, nothing, on_progress).is_interrupted;
  }

  /// Positions of points that the database does not have, each with that of its donor.
  std::vector<std::pair<std::size_t, std::optional<std::size_t>>> waiting() {
    cli::value_or_fail(database_.save(plan_));
    std::vector<std::pair<std::size_t, std::optional<std::size_t>>> points;
    for (std::size_t p = 0; p < plan_.points.size(); ++p) {
      const SweepPoint& point = plan_.points[p];
      if (first_with_key_.at(point.key) != p || cli::value_or_fail(database_.has(point.key)))
        continue;
      std::optional<std::size_t> donor;
      if (point.donor) donor = first_with_key_.at(plan_.points[*point.donor].key);
      points.emplace_back(p, donor);
    }
    return points;
  }

  std::string inputs(std::size_t point) const { return inputs_text(inputs_of(point)); }

  /// What the database has of a point.
  std::string found(std::size_t point) const {
    const auto run = cli::value_or_fail(database_.find(plan_.points.at(point).key));
    return run ? run_text(*run) : "";
  }

  std::string settings(std::size_t point) const {
    std::vector<std::string> parts;
    for (const auto& [name, value] : plan_.points.at(point).settings)
      parts.push_back(fmt::format("{}={}", name, value));
    return fmt::format("{}", fmt::join(parts, " "));
  }

  void save(std::size_t point, const std::string& text) {
    SweepRun run = run_from(text);
    const SweepPoint& planned = plan_.points.at(point);
    run.key = planned.key;
    run.workload = planned.workload;
    run.arch = planned.arch;
    cli::value_or_fail(database_.save(run, inputs_of(point).problem));
  }

  /// What was found so far: document, table, and the best mapping of each row.
  nb::dict parts() const {
    const SweepTable table = cli::value_or_fail(sweep_table(plan_, database_));
    const std::string objective = objective_column(inputs_of(0).options.objectives.front());
    std::ostringstream out, err;
    nb::dict parts;
    parts["document"] = document_text(table, objective);
    parts["summary"] = cli::sweep_text(cli::Console{out, err}, table, objective);
    parts["csv"] = csv_text(table);
    parts["objective"] = objective;
    nb::list mappings;
    for (const SweepPoint& point : plan_.points)
      if (const auto run = cli::value_or_fail(database_.find(point.key)))
        mappings.append(run->mappings.empty() ? "" : run->mappings.front().mapping);
    parts["mappings"] = mappings;
    return parts;
  }

 private:
  SweepPlan planned(const SweepNames& names, const cli::SpecArguments& specs, const Grid& grid,
                    const std::vector<SweepSettings>& points, const Texts& options) const {
    SweepRequest request = request_of(names, specs, options_);
    for (const auto& [name, values] : grid) request.grid.push_back({name, values});
    request.list.insert(request.list.end(), points.begin(), points.end());
    for (const auto& [name, value] : options) request.options[name] = value;
    return cli::value_or_fail(plan_sweep(request, options_));
  }

  SweepInputs inputs_of(std::size_t point) const {
    return cli::value_or_fail(sweep_inputs(plan_.request, plan_.points.at(point), options_));
  }

  LoadOptions options_;
  SweepPlan plan_;
  SweepDatabase database_;
  std::map<std::string, std::size_t> first_with_key_;
};

std::unique_ptr<Sweep> plan(const Names& workloads, const Names& architectures, const Names& files,
                            const Texts& texts, const Names& assignments,
                            const std::optional<TrainingTexts>& training,
                            const std::string& energy_file, const Grid& grid,
                            const std::vector<SweepSettings>& points, const Texts& options,
                            const std::string& database) {
  const Unlocked unlocked;
  const cli::SpecArguments specs = spec_arguments({}, texts, assignments, training, energy_file);
  return std::make_unique<Sweep>(SweepNames{workloads, architectures, files}, specs, grid, points,
                                 options, database);
}

/// A search of a point, in any process. `donor`: what another one found, or empty.
std::string search_text(const std::string& inputs, const std::string& donor, int threads) {
  const Unlocked unlocked;
  SweepInputs searched = inputs_from(inputs);
  searched.options.threads = threads;
  std::string start;
  if (!donor.empty())
    if (const SweepRun run = run_from(donor); !run.mappings.empty())
      start = run.mappings.front().mapping;
  return run_text(*search_point(searched, start, nullptr));
}

std::vector<std::string> values_of(const std::string& text, const std::string& subject) {
  return cli::value_or_fail(varied_values(text, subject));
}

}  // namespace

void bind_sweep(nb::module_& module) {
  nb::class_<Sweep>(module, "Sweep")
      .def_prop_ro("n_points", &Sweep::n_points)
      .def("run", &Sweep::run, nb::arg("jobs"), nb::arg("on_progress").none())
      .def("waiting", &Sweep::waiting)
      .def("inputs", &Sweep::inputs)
      .def("found", &Sweep::found)
      .def("settings", &Sweep::settings)
      .def("save", &Sweep::save)
      .def("parts", &Sweep::parts);
  module.def("sweep", &plan, nb::arg("workloads"), nb::arg("architectures"), nb::arg("files"),
             nb::arg("texts"), nb::arg("assignments"), nb::arg("training").none(),
             nb::arg("energy_file"), nb::arg("grid"), nb::arg("points"), nb::arg("options"),
             nb::arg("database"));
  module.def("search_point", &search_text, nb::arg("inputs"), nb::arg("donor"), nb::arg("threads"));
  module.def("varied_values", &values_of, nb::arg("text"), nb::arg("subject"));
}

}  // namespace sluice::python
