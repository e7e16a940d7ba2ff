#pragma once

#include <optional>

#include "commands.h"
#include "sluice/mapper/mapper.h"

namespace sluice::cli {

/// What the best mapping costs (in the first objective) that an interrupted `map` left in the
/// output folder, priced anew with these specs. None where there is no such result, or where its
/// mapping is not legal here: then the search starts afresh.
std::optional<double> interrupted_objective(const MapArguments& arguments,
                                            const MapperOptions& options);

}  // namespace sluice::cli
