#pragma once

#include <string>

#include "sluice/frontend/load.h"

namespace sluice::testing {

/// What a user is told about a spec: all diagnostics (places without the folder), the reasons why
/// its mappings are illegal, and the exit status that follows.
std::string outcome_of(const Result<Specs>& specs);

}  // namespace sluice::testing
