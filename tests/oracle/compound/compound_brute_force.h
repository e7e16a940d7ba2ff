#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "oracle/compound/compound_nest.h"
#include "sluice/mapper/mapper.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/latency_policy.h"

namespace sluice::oracle {

/// The best mapping of one objective.
struct CompoundBest {
  Mapping mapping;
  double energy_j = 0;
  double latency_s = 0;
};

/// What brute force says of the compound space of a problem.
struct CompoundTruth {
  std::int64_t mappings = 0;                        ///< that can be written
  std::int64_t legal = 0;                           ///< that `evaluate` accepts
  std::array<std::optional<CompoundBest>, 3> best;  ///< by Objective
  /// Refusals of `evaluate` other than of capacity, by their first message, with one mapping each.
  std::map<std::string, Mapping> refusals;

  const std::optional<CompoundBest>& of(Objective objective) const {
    return best[static_cast<std::size_t>(objective)];
  }
};

/// Mappings of the compound space (README.md, "The compound space"); none if more than `limits`.
std::optional<std::int64_t> count_compound(const BoundProblem& problem,
                                           const CompoundLimits& limits);

/// Writes and prices every mapping of the compound space. Throws TooMany (compound_nest.h) beyond
/// `limits`.
CompoundTruth enumerate_compound(const BoundProblem& problem, LatencyPolicy policy,
                                 const CompoundLimits& limits);

}  // namespace sluice::oracle
