#pragma once

#include <cstdint>
#include <vector>

#include "template.h"

namespace sluice::fused {

/// Loops below a slot of whose steps it reserves one: its node takes effect as far in as nothing
/// changes by it (model.md, normal form). Indices into Template::loops.
std::vector<std::uint32_t> sunk_loops(const EinsumShape& shape, const Template& templ,
                                      const Slot& slot);
/// The same with these trips: loops of one step stop no node.
std::vector<std::uint32_t> sunk_loops(const EinsumShape& shape, const Template& templ,
                                      const Slot& slot, const std::vector<std::int64_t>& trips);

/// Where loops that a constraint puts below a node stand below others, too, the node sinks through
/// them if those that stop it have one step.
struct FurtherSink {
  std::vector<std::uint32_t> stopping;  ///< all of the gap so far
  std::vector<std::uint32_t> sunk;      ///< if none of these has more than one step
};
/// From the outermost of such loops on, each adding to the one before.
std::vector<FurtherSink> further_sinks(const EinsumShape& shape, const Template& templ,
                                       const Slot& slot);

}  // namespace sluice::fused
