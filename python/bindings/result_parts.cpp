#include "result_parts.h"

#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/publish.h"
#include "description.h"
#include "report/text/summary.h"

namespace sluice::python {
namespace nb = nanobind;

nb::dict parts_of(const RunResult& result) {
  std::ostringstream out, err;
  const cli::Console console{out, err};
  nb::dict parts;
  parts["document"] = document_text(result);
  parts["summary"] = cli::summary_text(console, result);
  parts["specs"] = result.specs_text.empty() ? cli::specs_text(*result.problem) : result.specs_text;
  parts["description"] =
      description_of(result.problem->workload, result.problem->arch, &*result.problem).dump();
  nb::list trees, texts;
  for (const MappingOutcome& outcome : result.outcomes) {
    trees.append(tree_of(outcome.mapping, *result.problem));
    texts.append(to_yaml(outcome.mapping, result.problem->workload, result.problem->arch));
  }
  parts["trees"] = trees;
  parts["mapping_texts"] = texts;
  return parts;
}

}  // namespace sluice::python
