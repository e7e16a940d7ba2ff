#pragma once

#include "kapla/blocking/sharing.h"
#include "kapla/unit/unit_pass.h"
#include "sluice/kapla/evaluate.h"

namespace sluice::kapla {

/// What the price of a layer follows from.
struct PriceQuestion {
  const Run& run;
  const Scheme& scheme;
  const LayerShape& layer;
  const UnitPass& pass;
  const Fetches& fetches;
  const SharingGroups& groups;
  const Sharing& sharing;
  PerOperand<std::int64_t> memory_hops{};  ///< words × links of one fetch
};

/// Counts, cycles and energy.
SchemeCost price(const PriceQuestion& question);

}  // namespace sluice::kapla
