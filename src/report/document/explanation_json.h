#pragma once

#include "result_document.h"

namespace sluice::cli {

/// The key `why` of a result document (docs/why.md).
Json explanation_to_json(const Explanation& explanation, const BoundProblem& problem);

}  // namespace sluice::cli
