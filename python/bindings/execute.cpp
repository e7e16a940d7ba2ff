#include "sluice/referee/execute.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <sstream>

#include "cli/io/tensor_numbers.h"
#include "description.h"
#include "loaded.h"
#include "report/document/execution_document.h"
#include "report/text/execution_summary.h"
#include "runs.h"
#include "sluice/model/evaluate.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

/// A literal run of mappings, as `sluice execute` does it.
class Run {
 public:
  Run(Loaded& loaded, std::uint64_t seed, const std::string& inputs)
      : result_{loaded.problem(), {}, seed, loaded.specs().warnings} {
    options_.seed = seed;
    if (!inputs.empty())
      options_.inputs = cli::input_numbers(inputs, "inputs", result_.problem.workload);
  }

  nb::dict run(const std::vector<Mapping>& mappings, bool wants_values,
               const nb::object& on_progress) {
    std::atomic<bool> cancel{false};
    RunNews news;
    Raised nothing;
    options_.record_values = wants_values;
    options_.cancel = &cancel;
    options_.progress = [&news](const ExecutionProgress& progress) {
      news.tell_phase(progress.phase,
                      static_cast<double>(progress.done) /
                          static_cast<double>(std::max<std::int64_t>(progress.all, 1)));
    };
    const RunEnd end = run_watched(
        [&] {
          for (const Mapping& mapping : mappings)
            if (!cancel) execute_one(mapping);
        },
        cancel, news, nothing, on_progress);
    if (end.is_interrupted) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw nb::python_error();
    }
    return parts();
  }

 private:
  void execute_one(const Mapping& mapping) {
    const BoundProblem& problem = result_.problem;
    cli::ExecutedMapping executed{mapping, {}, sluice::evaluate(problem, mapping), {}};
    executed.execution = execute(problem.workload, problem.arch, mapping, options_);
    executed.disagreements = cli::disagreements(problem, executed.evaluation, executed.execution);
    result_.mappings.push_back(std::move(executed));
  }

  nb::dict parts() const {
    std::ostringstream out, err;
    nb::dict parts;
    parts["document"] = cli::execution_document_text(result_);
    parts["summary"] = cli::execution_summary(cli::Console{out, err}, result_);
    nb::list values, trees;
    for (const cli::ExecutedMapping& mapping : result_.mappings) {
      values.append(cli::tensor_numbers_text(result_.problem.workload, mapping.execution.values));
      trees.append(tree_of(mapping.mapping, result_.problem));
    }
    parts["values"] = values;
    parts["trees"] = trees;
    return parts;
  }

  cli::ExecutionResult result_;
  ExecutionOptions options_;
};

nb::dict execute_mappings(Loaded& loaded, std::uint64_t seed, const std::string& inputs,
                          bool wants_values, const nb::object& on_progress) {
  return Run(loaded, seed, inputs).run(loaded.mappings(), wants_values, on_progress);
}

}  // namespace

void bind_execute(nb::module_& module) {
  module.def("execute", &execute_mappings, nb::arg("specs"), nb::arg("seed"), nb::arg("inputs"),
             nb::arg("wants_values"), nb::arg("on_progress").none());
}

}  // namespace sluice::python
