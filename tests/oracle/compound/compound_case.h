#pragma once

#include <cstdint>
#include <string>

#include "oracle/compound/compound_brute_force.h"

namespace sluice::oracle {

/// A random tiny problem of the compound space, with everything that brute force says of it.
struct CompoundCase {
  std::string yaml;  ///< workload and arch, as a spec file
  BoundProblem problem;
  LatencyPolicy policy = LatencyPolicy::kStaged;
  ImperfectFactors imperfect = ImperfectFactors::kNone;
  int max_fused_loops = kUnlimitedLoops;
  CompoundTruth truth;
};

/// A spec file: a cascade of 1 to 4 Einsums, and a machine of clusters and cores with networks.
/// `attempt`: of the same seed, the later the smaller the problem.
std::string random_compound_yaml(std::uint64_t seed, int attempt);

/// Whether the case of a seed has imperfect factors.
bool is_imperfect(std::uint64_t seed);

/// The problem of a spec file, bound. Throws InternalError with the diagnostics where it is
/// refused.
BoundProblem bind_compound(const std::string& yaml);

/// The case of one seed: at most `most` mappings; problems that have more are drawn again.
CompoundCase random_compound_case(std::uint64_t seed, std::int64_t most);

}  // namespace sluice::oracle
