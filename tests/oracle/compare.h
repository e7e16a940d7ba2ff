#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oracle/enumerate.h"
#include "oracle/problem/random_problem.h"

namespace sluice::oracle {

/// A mapper that takes longer for one answer is reported as differing (these problems are tiny).
inline constexpr double kPatienceSeconds = 20;

/// Compares a mapper that claims to be exact with the referee's enumeration of the same problem:
/// the optimum of every objective, the Pareto front (with `options.resource_usage` also the one
/// with peak occupancies), one pruning rule switched off (`variation` says which), and the results
/// of 1, 2 and 8 threads. What differs, or nothing.
std::optional<std::string> difference(const Mapper& mapper, const BoundProblem& problem,
                                      const MapperOptions& options, const Enumeration& truth,
                                      std::uint64_t variation);

/// The variations of `difference` that differ: one for each pruning rule to switch off.
std::uint64_t number_of_variations();

/// A random case small enough for the referee: redrawn from `seed` on until it is.
struct RandomCase {
  ProblemSpec spec;
  BoundProblem problem;
  MapperOptions options;
  Enumeration truth;
};
RandomCase random_case(std::uint64_t seed, const EnumerationLimits& limits,
                       const Extras& extras = {});

/// The problem as its YAML says it: an edited size may leave windows less than their variables
/// walk, and the front end then bounds these. Throws InternalError where the front end refuses it.
BoundProblem written_problem(const ProblemSpec& spec);

/// A problem with one rank of 5 to 13 values, and at most two of each other: where its tiles do not
/// divide, some inside them do not either. As it is where the front end refuses that.
ProblemSpec with_one_long_rank(ProblemSpec spec, std::uint64_t seed);

/// The simplest problem near `spec` (greedily) for which the mapper still differs as its YAML is
/// read, with the difference.
struct ShrunkDifference {
  ProblemSpec spec;
  std::string difference;
};
ShrunkDifference shrink(const Mapper& mapper, const ProblemSpec& spec, const std::string& found,
                        const EnumerationLimits& limits, std::uint64_t variation);

}  // namespace sluice::oracle
