#include "sluice/arch/outermost_memory.h"

namespace sluice {

std::optional<ComponentId> outermost_memory(const Arch& arch) {
  for (std::size_t c = 0; c < arch.components.size(); ++c)
    if (arch.components[c].is_memory()) return ComponentId(c);
  return std::nullopt;
}

}  // namespace sluice
