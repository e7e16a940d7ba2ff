#pragma once

#include <string>
#include <tl/expected.hpp>

#include "sluice/kapla/run.h"
#include "unit_pass.h"

namespace sluice::kapla {

/// What a pass follows from.
struct PassQuestion {
  const Run& run;
  const Scheme& scheme;
  LayerShape layer;
  Extent region;  ///< nodes down and across
};

/// A pass, or a sentence that says why the scheme has none.
using PassAnswer = tl::expected<UnitPass, std::string>;

/// The pass of a scheme. Schemes of solvers with directives say how the array is used; exhaustive
/// ones say only what a pass holds, and it is the one that holds as much.
PassAnswer find_pass(const PassQuestion& question);

}  // namespace sluice::kapla
