#pragma once

#include "find_pass.h"

namespace sluice::kapla {

/// Passes of KAPLA's solver: the whole layer on the array, its folds then divided among nodes and
/// loops.
PassAnswer solved_row_stationary(const PassQuestion& question);
PassAnswer solved_systolic(const PassQuestion& question);

/// Passes of the exhaustive search over directives: the part of one node on the array.
PassAnswer searched_row_stationary(const PassQuestion& question);
PassAnswer searched_systolic(const PassQuestion& question);

}  // namespace sluice::kapla
