#pragma once

#include <string>
#include <vector>

#include "sluice/mapping/drawing.h"

namespace sluice {

/// One line of a drawing before it is laid out.
struct DrawingLine {
  std::string head;                ///< `GlobalBuffer holds`, `for`
  std::vector<std::string> items;  ///< separated by commas, may be broken between them
  std::string shape;               ///< the line without the names of tensors, Einsums and variables
  bool is_loop = false;
};

/// A node list as lines, and the branches of the split that ends it.
struct DrawingBranch {
  std::vector<DrawingLine> lines;
  std::string split;  ///< `one after the other`, …; empty where there is none
  std::vector<DrawingBranch> children;
  std::vector<std::string> einsums;  ///< names of all that it computes, in order

  /// Equal for branches that differ in names only.
  std::string shape() const;
};

/// Tile sizes and trip counts of a whole mapping, in words.
DrawingBranch describe_loop_tree(const Mapping& mapping, const Workload& workload, const Arch& arch,
                                 const DrawingOptions& options);

}  // namespace sluice
