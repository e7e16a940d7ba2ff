#pragma once

#include <string>

namespace sluice::testing {

/// Counts one case of the reference data as run. Each validation test calls it once a case; the
/// total is the last line of `./dev test`.
void count_golden_case();

/// `golden: N cases run`, or `golden: SKIPPED (folder absent)` where there is no reference data.
std::string golden_summary();

}  // namespace sluice::testing
