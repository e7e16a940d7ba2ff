#pragma once

#include "frontend/load/spec_files.h"
#include "sluice/frontend/load.h"

namespace sluice {

/// What files that were read and merged define.
Result<Specs> load(ReadContext& context, SpecFiles& files);

}  // namespace sluice
