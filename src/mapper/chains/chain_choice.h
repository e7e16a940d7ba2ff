#pragma once

#include <cstddef>
#include <optional>

#include "mapper/sampling/space/fanout_use.h"
#include "mapper/sampling/space/map_space.h"
#include "sluice/model/einsum_chains.h"

namespace sluice::chains {

struct PricedChoice {
  sampling::ChoicePtr choice;
  CostTotals totals;  ///< of the Einsum alone
};

/// A chain of one Einsum as a choice of a space, which gets its template where it is new; nothing
/// where the space has no such choice that is legal, and exchanges its tensors so (`like`; null: it
/// shares the loops of `outermost`, steps that the chain begins with, in their order). Of the
/// templates with the chain's nodes, the cheapest of those whose windows slide most as they do in
/// the chain. Not safe while others use the space.
std::optional<PricedChoice> choice_of(const Chain& chain, std::size_t einsum,
                                      const EinsumChains::Worth& worth,
                                      const fused::Compatibility* like, const ChainSteps& outermost,
                                      sampling::MapSpace* space, sampling::FanoutUse* use);

/// Whether a chain's loop is one that Einsums share.
bool is_same(const ChainLoop& loop, const fused::FusedLoop& shared);

}  // namespace sluice::chains
