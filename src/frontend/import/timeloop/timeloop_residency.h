#pragma once

#include <string>
#include <vector>

#include "sluice/frontend/load.h"

namespace sluice::timeloop {

/// A storage node that cannot be priced as it is written.
struct Unpriced {
  std::string component, tensor;
  std::string why;  ///< a sentence
};

/// Those of the mapping in `texts`, specs as the import writes them.
std::vector<Unpriced> unpriced_nodes(const std::vector<NamedText>& texts);

}  // namespace sluice::timeloop
