#pragma once

#include "fetches.h"
#include "kapla/unit/unit_pass.h"
#include "sharing_groups.h"

namespace sluice::kapla {

/// How nodes that need the same values hold them together.
struct Sharing {
  PerOperand<std::int64_t> holders{1, 1, 1};  ///< nodes that hold one copy together
  PerOperand<double> hops{};                  ///< words × links between nodes
};

struct SharingQuestion {
  const LayerShape& layer;
  const Scheme& scheme;
  const UnitPass& pass;
  const Fetches& fetches;
  const SharingGroups& groups;
  double buffer_words = 0;  ///< of a node
};

/// The way with the fewest words × links: how many nodes hold a copy together, how the loops above
/// the registers are cut so that nodes use what they hold before it goes on, and in which order
/// these stand. The first of equal ones.
Sharing best_sharing(const SharingQuestion& question);

/// Words of each tensor that a node's share of the global buffers holds, if so many nodes hold it
/// together.
PerOperand<double> held_words(const LayerShape& layer, const Scheme& scheme,
                              const PerOperand<std::int64_t>& holders);

/// Words of each tensor in all steps of its loops, for one node.
double words_of_all_steps(const LayerShape& layer, const Scheme& scheme, Operand operand,
                          double words_of_a_pass);

}  // namespace sluice::kapla
