#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "report/document/result_document.h"

namespace sluice::python {

/// What Python code asks of a workload and an architecture without reading their YAML: Einsums with
/// variables and operations, tensors with shapes, components with instances, sizes and prices, and
/// which memories lead to each compute. `problem`: null where the two are not together.
cli::Json description_of(const std::optional<Workload>& workload, const std::optional<Arch>& arch,
                         const BoundProblem* problem);

/// The loop tree, as the summary draws it.
std::string tree_of(const Mapping& mapping, const BoundProblem& problem);

}  // namespace sluice::python
