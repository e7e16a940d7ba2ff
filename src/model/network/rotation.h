#pragma once

#include <cstdint>
#include <vector>

#include "model/topology/node_line.h"

namespace sluice {

/// A spatial loop over the nodes of a network, outermost first.
struct RotationLoop {
  std::uint32_t dimension = 0;
  std::int64_t trips = 1;
  bool over_peers = false;
};

/// One shift of the shares of all peers by one instance: the first one's goes to the last one.
struct Rotation {
  std::int64_t messages = 0;
  std::int64_t links = 0;        ///< Σ over messages
  std::int64_t longest = 0;      ///< of the links of one message
  std::int64_t most_loaded = 0;  ///< messages over one link
};

/// Precondition: no tree, no packed layout. `first`: coordinates where the loops begin; empty: 0.
Rotation rotation_of(const Network& network, const Coordinates& fanouts,
                     const std::vector<RotationLoop>& loops, const Coordinates& first);

}  // namespace sluice
