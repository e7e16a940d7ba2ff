#pragma once

#include <cstdint>

namespace sluice::testing {

/// How many random cases a property test draws, and from which seed on: case i uses `seed + i`, so
/// that a failing case is repeated alone with `./dev fuzz --cases 1 --seed <its seed>`.
struct RandomCases {
  std::int64_t count;
  std::uint64_t seed;
};

/// The test's own defaults, or what `./dev fuzz --cases N --seed S` asked for.
RandomCases random_cases(std::int64_t default_count, std::uint64_t default_seed = 1);

}  // namespace sluice::testing
