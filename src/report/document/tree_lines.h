#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/report/comparison.h"

namespace sluice::cli {

/// The loop tree of a document's `mapping`, a node a line, as drawings have it but without the
/// numbers that follow from a workload.
std::vector<std::string> tree_lines(const nlohmann::json& mapping);

/// What has to go from one list of lines, and what has to come, to get the other: all lines of
/// both, as few of them marked as possible. Empty where the two are equal.
std::vector<TreeLine> changed_lines(const std::vector<std::string>& before,
                                    const std::vector<std::string>& after);

}  // namespace sluice::cli
