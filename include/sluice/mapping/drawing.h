#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// How a loop tree is drawn.
struct DrawingOptions {
  bool ascii = false;  ///< no characters beyond ASCII
  /// Adjacent loops share a line, adjacent storage nodes of one component too, and branches that
  /// differ in names only are drawn once.
  bool compact = false;
  std::size_t width = 100;  ///< columns that a compact line is broken at
  /// Bits of one value of a tensor in a component; where absent, the width of the Einsum's access.
  std::function<double(EinsumId, TensorId, ComponentId)> bits_per_value;
};

/// The loop tree as a drawing for people: box characters for branches, trip counts and tile shapes
/// at loops, tile sizes at storage nodes. Ends with a newline.
std::string to_drawing(const Mapping& mapping, const Workload& workload, const Arch& arch,
                       const DrawingOptions& options = {});

}  // namespace sluice
