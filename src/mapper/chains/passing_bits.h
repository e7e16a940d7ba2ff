#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/sampling/space/map_space.h"
#include "runs.h"

namespace sluice::chains {

/// What shared loops alone make of the traffic of the outermost memory. An estimate, for choosing
/// among mappings: what else holds something, and what Einsums do below these loops, is left out.
class PassingBits {
 public:
  /// Loops in time of an Einsum: its variable and the trip count, outermost first.
  using Loops = std::vector<std::pair<std::size_t, std::int64_t>>;

  /// `runs` must outlive it.
  explicit PassingBits(const Runs& runs) : runs_(runs) {}

  /// Bits of an Einsum's tensors, but for those that inner memories exchange, that pass the
  /// outermost memory below these loops, where an inner one has room for so many bits of each.
  double of(std::size_t einsum, const std::vector<TensorId>& inner, const Loops& loops,
            double room) const;
  /// The same, as the Einsum exchanges its tensors now.
  double of(std::size_t einsum, const fused::Compatibility& now, double room) const;
  /// Of a tensor that one Einsum makes: written and read there by all that use it.
  double of(TensorId tensor) const;

 private:
  const Runs& runs_;
};

}  // namespace sluice::chains
