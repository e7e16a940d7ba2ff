#pragma once

#include <string>

#include "sluice/frontend/load.h"

namespace sluice::testing {

/// Processor seconds that any answer may take; sanitizers slow everything down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kLongestAnswer = 10.0;
#else
inline constexpr double kLongestAnswer = 1.0;
#endif

/// What a user is told about a spec: all diagnostics (places without the folder), the reasons why
/// its mappings are illegal, and the exit status that follows.
std::string outcome_of(const Result<Specs>& specs);

}  // namespace sluice::testing
