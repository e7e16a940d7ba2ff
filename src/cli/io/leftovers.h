#pragma once

#include "sluice/mapper/leftovers.h"

namespace sluice::cli {

/// Tables of the searches of this process, which ends without freeing them.
Leftovers& leftovers();

}  // namespace sluice::cli
