#pragma once

#include "sluice/support/expression.h"

namespace sluice {

// What the values of an architecture are measured in.
inline constexpr Dimension kBit{.bit = 1};
inline constexpr Dimension kJoule{.joule = 1};
inline constexpr Dimension kJoulePerBit{.joule = 1, .bit = -1};
inline constexpr Dimension kSecond{.second = 1};
inline constexpr Dimension kPerSecond{.second = -1};
inline constexpr Dimension kBitPerSecond{.second = -1, .bit = 1};
inline constexpr Dimension kWatt{.joule = 1, .second = -1};
inline constexpr Dimension kSquareMetre{.metre = 2};

}  // namespace sluice
