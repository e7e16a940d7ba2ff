#pragma once

#include <vector>

#include "sluice/model/latency_policy.h"
#include "sluice/model/stalls.h"

namespace sluice {

// Policy `staged` (COMET eq. 1 to 7, in the reading of docs/model.md). Where `overlap` takes
// longer, what is missing counts as optional stall.

/// The stages alone, without what `overlap` takes longer: adds up over the children of a sequential
/// split.
struct StageTotals {
  double seconds = 0;
  double windows = 0;   ///< how often the children of the outermost split run; 0 without a split
  double window_s = 0;  ///< how long each time, without fills and drains of the stages around
};
StageTotals stage_totals(const CountedMapping& counted);

/// Where the stalls come from, longest first.
std::vector<StallRow> stall_rows(const CountedMapping& counted);

}  // namespace sluice
