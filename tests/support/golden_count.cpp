#include "support/golden_count.h"

#include <atomic>

#include "support/folders.h"

namespace sluice::testing {
namespace {

std::atomic<int> golden_cases_run = 0;

}  // namespace

void count_golden_case() { ++golden_cases_run; }

std::string golden_summary() {
  if (!reference_data_dir()) return "golden: SKIPPED (folder absent)";
  return "golden: " + std::to_string(golden_cases_run) + " cases run";
}

}  // namespace sluice::testing
