#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chain_choices.h"
#include "mapper/sampling/space/random_source.h"
#include "runs.h"

namespace sluice::chains {

/// How a run is fused: its tensors lie in an inner memory, below loops that all of its Einsums
/// share. Some neighbours among them may share more loops, above what they alone exchange.
struct FusedRun {
  struct Temporal {
    std::size_t loop = 0;  ///< among the common ones
    std::int64_t trips = 1;
  };
  struct Spatial {
    std::size_t loop = 0;
    std::int64_t trips = 1;
    std::pair<ComponentId, std::uint32_t> dimension;
  };
  struct Segment {
    const Run* run;
    std::vector<Temporal> temporal;  ///< of its own common loops, outermost first
  };

  const Run* run;
  ComponentId memory;
  std::vector<Spatial> spatial;    ///< outermost first, above the temporal ones
  std::vector<Temporal> temporal;  ///< outermost first
  std::vector<Segment> segments;   ///< disjoint

  /// What an Einsum of the run shares and exchanges so, outermost first.
  ChainSteps steps_of(std::size_t einsum, const Runs& runs) const;
  /// Of the memory, what the run's tensors take: of parts of it, the largest one.
  double held_bits(const Runs& runs) const;
  /// Names it among all others of the workload.
  std::vector<std::int64_t> key() const;
  /// What it has in common with others that share the same loops, whatever their trip counts and
  /// order.
  std::vector<std::int64_t> shape() const;
};

/// A run fused at random: over the instances outside of the memory, as many as there are, and in
/// time until it has room for what is exchanged; nothing where it never has.
std::optional<FusedRun> draw_fused(const Runs& runs, const Run& run, ComponentId memory,
                                   sampling::RandomSource* random);
/// Another one, most of which is as it was: some steps of common loops, their order, or which
/// neighbours share more; nothing where the memory has no room for it.
std::optional<FusedRun> vary_fused(const Runs& runs, const FusedRun& from,
                                   sampling::RandomSource* random);

}  // namespace sluice::chains
