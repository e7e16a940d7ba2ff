#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "report/document/result_document.h"

namespace sluice::cli {

/// Bits of a value of a tensor in a component, as an Einsum sees it.
std::function<double(EinsumId, TensorId, ComponentId)> bits_in(const BoundProblem& problem);

/// `node_sizes`: steps of loops and tiles of storage nodes, by their place in the tree.
Json node_size_rows(const Mapping& mapping, const BoundProblem& problem);

/// `occupancy_over_time`: the steps of the schedule, and what memories hold from step to step.
Json occupancy_over_time_json(const Mapping& mapping, const BoundProblem& problem);

/// `machine`: what one instance of every component can do, a row for each action.
Json machine_rows(const Arch& arch);

}  // namespace sluice::cli
