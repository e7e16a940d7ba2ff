#pragma once

#include <optional>

#include "sluice/arch/arch.h"

namespace sluice {

/// The memory that stands above all others; nothing where there is none.
std::optional<ComponentId> outermost_memory(const Arch& arch);

}  // namespace sluice
