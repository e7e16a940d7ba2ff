#pragma once

#include <string>
#include <utility>
#include <vector>

#include "console.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"

namespace sluice::cli {

/// Rate, efficiency, power and area, as far as they are known: names and values of fields.
std::vector<std::pair<std::string, std::string>> rates_text(const Console& console,
                                                            const BoundProblem& problem,
                                                            const Cost& cost);

/// A bar for each memory and compute with a peak rate.
std::string utilisation_bars(const Console& console, const BoundProblem& problem, const Cost& cost);

/// Where the mapping stands below the roofline; empty where that is not known.
std::string roofline_text(const Console& console, const BoundProblem& problem, const Cost& cost);

}  // namespace sluice::cli
