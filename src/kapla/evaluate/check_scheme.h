#pragma once

#include <optional>

#include "sluice/kapla/evaluate.h"

namespace sluice::kapla {

/// Why a scheme is none for this run: its layer is not of the network, its partition does not fit
/// in the region, …
Diagnostics mistakes_in(const Run& run, const Scheme& scheme);

}  // namespace sluice::kapla
