#pragma once

#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

inline double real(std::int64_t count) { return static_cast<double>(count); }

inline double sum(const PerOperand<double>& words) { return words[0] + words[1] + words[2]; }

}  // namespace sluice::kapla
