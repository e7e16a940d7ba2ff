#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/sampling/space/map_space.h"
#include "runs.h"

namespace sluice::chains {

/// What shared loops alone make of the traffic of the outermost memory. An estimate, for choosing
/// among mappings: what else holds something, and what Einsums do below these loops, is left out.
class PassingBits {
 public:
  /// Where Einsums exchange something below loops, and what it leaves of the memory (bits).
  struct Inside {
    ComponentId memory;
    double left_bits = 0;
  };

  /// `runs` must outlive it.
  explicit PassingBits(const Runs& runs);

  /// Bits of an Einsum's tensors that pass the outermost memory below these loops, but for those
  /// that the nodes among them exchange in inner memories. Above the loops, memories as far out as
  /// that of `inside` may hold tiles as far as they have room; nothing: all of them.
  double of(std::size_t einsum, const ChainSteps& exchanged,
            const std::optional<Inside>& inside) const;
  /// The same, as the Einsum exchanges its tensors now.
  double of(std::size_t einsum, const fused::Compatibility& now) const;
  /// Of a tensor that one Einsum makes: written and read there by all that use it.
  double of(TensorId tensor) const;

 private:
  /// Loops in time of an Einsum: its variable and the trip count, outermost first.
  using Loops = std::vector<std::pair<std::size_t, std::int64_t>>;

  double of(std::size_t einsum, const std::vector<TensorId>& inner, const Loops& loops,
            const std::optional<Inside>& inside) const;
  double room(std::size_t einsum, std::size_t tensor, const std::optional<Inside>& inside) const;

  const Runs& runs_;
  /// Per Einsum and local tensor: inner memories that may hold it, outermost first.
  std::vector<std::vector<std::vector<ComponentId>>> holders_;
};

}  // namespace sluice::chains
