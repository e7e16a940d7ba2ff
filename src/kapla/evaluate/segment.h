#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kapla/grid/region.h"
#include "sluice/kapla/evaluate.h"

namespace sluice::kapla {

/// The schemes of one segment: layers that are on the chip together.
struct Segment {
  std::span<const Scheme> schemes;
  std::vector<Region> regions;  ///< of each scheme
  /// Where each scheme's input comes from instead of where it was written: the nodes of a layer
  /// that has fetched or made it in this segment.
  std::vector<std::optional<Region>> forwarded_from;
  /// Whether the segment is the whole network, and no region has two layers with weights: then
  /// weights that fit stay.
  bool pins_weights = false;
};

/// Neighbouring schemes with the same segment number, one span each.
std::vector<std::span<const Scheme>> split_into_segments(const std::vector<Scheme>& schemes);

/// Regions and forwarding of a segment.
Result<Segment> place_segment(const Run& run, std::span<const Scheme> schemes);

}  // namespace sluice::kapla
