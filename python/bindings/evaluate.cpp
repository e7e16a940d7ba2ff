#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "cli/commands/constrained.h"
#include "cli/commands/publish.h"
#include "loaded.h"
#include "problem_view.h"
#include "result_parts.h"
#include "runs.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

/// Prices mappings, as `sluice evaluate` does.
nb::dict evaluate_mappings(Loaded& loaded, const std::string& latency) {
  RunResult result;
  result.command = "evaluate";
  result.diagnostics = loaded.specs().warnings;
  result.latency = loaded.policy(latency);
  result.problem = loaded.problem();
  const std::vector<Mapping>& mappings = loaded.mappings();
  result.sources = loaded.specs().sources;
  {
    const Unlocked unlocked;
    for (std::size_t m = 0; m < mappings.size(); ++m) {
      auto cost = cli::evaluate_constrained(*result.problem, mappings[m], result.latency,
                                            loaded.specs().constraints);
      if (!cost) add_violations(cost.error(), result.status);
      if (cost)
        cli::warn_of_mapping(
            *result.problem, mappings[m],
            "the mapping is priced all the same; mappers would not make it, and the "
            "bounds do not hold for it",
            &result.diagnostics);
      result.outcomes.push_back(
          {mappings[m], std::move(cost), loaded.specs().mapping_places.at(m)});
    }
  }
  loaded.extensions().raised->raise_again();
  return parts_of(result);
}

std::shared_ptr<ProblemView> problem_of(Loaded& loaded, const std::string& latency) {
  const bool is_of_python = standard_latency_policies().find(latency) == nullptr;
  return std::make_shared<ProblemView>(loaded.problem(), loaded.policy(latency),
                                       loaded.specs().constraints,
                                       is_of_python ? loaded.extensions().raised : nullptr);
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  module.def("evaluate", &evaluate_mappings, nb::arg("specs"), nb::arg("latency"));
  module.def("problem", &problem_of, nb::arg("specs"), nb::arg("latency"), nb::keep_alive<0, 1>());
}

}  // namespace sluice::python
