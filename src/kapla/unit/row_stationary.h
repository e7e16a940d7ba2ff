#pragma once

#include "unit_pass.h"

namespace sluice::kapla {

/// One pass of a row-stationary array: each element holds a row of weights and slides it along a
/// row of the larger plane; elements down hold the rows of the window, elements across the rows of
/// the smaller plane.
struct RowStationaryUnit {
  std::int64_t rows = 1;     ///< of the smaller plane that all folds across cover together
  std::int64_t columns = 1;  ///< of the smaller plane
  Extent window;             ///< h: rows, over elements down; w: kept in each element
  Extent fold;               ///< h: of the window's rows, in one pass; w: of the plane's rows
  Copies copies;
  std::int64_t operands_read = 1;  ///< of those that an elementwise or local layer has
};

/// Words, operations and cycles of a pass. Cycles: those of one element's row, for each fold of the
/// window; R·S where `window_unit_time`.
UnitPass row_stationary_pass(const LayerShape& layer, const RowStationaryUnit& unit,
                             bool window_unit_time);

}  // namespace sluice::kapla
