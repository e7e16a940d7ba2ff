#pragma once

#include <algorithm>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

/// Whether some variable moves a window of a tensor; `relevance`: per tensor and variable.
inline bool moves_windows(const std::vector<std::vector<Relevance>>& relevance) {
  return std::any_of(relevance.begin(), relevance.end(), [](const std::vector<Relevance>& seen) {
    return std::find(seen.begin(), seen.end(), Relevance::kPartial) != seen.end();
  });
}

}  // namespace sluice
