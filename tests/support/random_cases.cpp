#include "support/random_cases.h"

#include <cstdlib>
#include <string>

namespace sluice::testing {

RandomCases random_cases(std::int64_t default_count, std::uint64_t default_seed) {
  const char* count = std::getenv("SLUICE_RANDOM_CASES");
  const char* seed = std::getenv("SLUICE_RANDOM_SEED");
  return {count ? std::stoll(count) : default_count, seed ? std::stoull(seed) : default_seed};
}

}  // namespace sluice::testing
