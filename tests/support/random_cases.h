#pragma once

#include <cstdint>

namespace sluice::testing {

/// How many random cases a property test draws, and from which seed on: case i uses `seed + i`, so
/// that a failing case is repeated alone with
/// `SLUICE_RANDOM_CASES=1 SLUICE_RANDOM_SEED=<its seed> ./dev test <name>`.
struct RandomCases {
  std::int64_t count;
  std::uint64_t seed;
};

/// The test's own defaults, or what the environment asks for: SLUICE_RANDOM_CASES,
/// SLUICE_RANDOM_SEED.
RandomCases random_cases(std::int64_t default_count, std::uint64_t default_seed = 1);

}  // namespace sluice::testing
