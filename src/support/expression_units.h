#pragma once

#include <optional>
#include <string_view>

#include "sluice/support/expression.h"

namespace sluice {

/// One of this unit is factor · 10^decimal_exponent in SI base units (J, s, bit, m², 1/s, W). The
/// two are kept apart so that `7.03 pJ` is the number nearest to 7.03e-12, not a rounded product.
struct Unit {
  double factor = 1;
  int decimal_exponent = 0;
  Dimension dimension;
};

/// One unit without a slash: `pJ`, `MiB`, `GHz`, `cycles`, `um2`.
std::optional<Unit> unit_from_name(std::string_view name);

}  // namespace sluice
