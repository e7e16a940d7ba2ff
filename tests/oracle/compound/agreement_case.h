#pragma once

#include <cstdint>
#include <string>

#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"

namespace sluice::oracle {

/// A random problem that both `fused` and `compound` search, too large for brute force.
///
/// A chain of Einsums in segments of one or two: within a segment the exchanged tensor may stay on
/// chip, between segments it may not. No network, no input that two Einsums read, splits one after
/// the other: so `compound` has no mapping that `fused` has not.
struct AgreementCase {
  std::string yaml;  ///< workload and arch, as a spec file
  BoundProblem problem;
  Constraints constraints;
  ImperfectFactors imperfect = ImperfectFactors::kNone;
  int max_fused_loops = kUnlimitedLoops;
  /// The two spaces have the same costs: below the outermost memory each memory has room for one
  /// tensor of a segment (the innermost, where nothing is exchanged, of an Einsum), so that both
  /// places that `compound` has for temporal loops at a memory are all that there are; and fanouts
  /// are prime, so that one variable takes a dimension.
  bool is_same_space = false;
};

AgreementCase random_agreement_case(std::uint64_t seed);

}  // namespace sluice::oracle
