#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// A network and the extents of the container whose instances are its nodes: instance (i, j) is
/// node (i, j).
struct CollectiveNetwork {
  Network network;
  std::vector<std::int64_t> fanouts;
};

/// A spatial dimension in which participants differ.
struct CollectiveDimension {
  std::size_t network = 0;        ///< index into CollectiveGroup::networks
  std::uint32_t dimension = 0;    ///< index into its fanouts
  std::int64_t participants = 1;  ///< coordinates `first` … `first` + participants − 1 take part
  std::int64_t first = 0;
};

/// Who takes part in a collective, and over which wires (docs/collectives.md). Participants are
/// ranked with the last dimension of `over` fastest. A message crosses the networks of the
/// dimensions in which its ends differ; where they differ in the instances of an outer container,
/// it also goes to the nearest port of every inner network at its sender and from one at its
/// receiver.
struct CollectiveGroup {
  std::vector<CollectiveNetwork> networks;  ///< outermost first
  std::vector<CollectiveDimension> over;
  /// Coordinates per network in the dimensions that are not in `over`; empty: all 0.
  std::vector<std::vector<std::int64_t>> standing_at;
};

/// One collective of one group. A *block* r of the V values belongs to participant r; block sizes
/// differ by at most one value, the larger ones first.
struct CollectiveRequest {
  CollectiveType type = CollectiveType::kAllReduce;
  CollectiveGroup group;
  /// V: what a participant holds before (all_reduce, reduce_scatter, all_to_all), the root holds
  /// before (broadcast, scatter) or after (gather), everyone holds after (all_gather).
  std::int64_t values = 0;
  double bits_per_value = 1;
  std::int64_t root = 0;  ///< rank, of gather, scatter and broadcast
};

}  // namespace sluice
