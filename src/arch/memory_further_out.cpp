#include "sluice/arch/memory_further_out.h"

namespace sluice {

std::optional<ComponentId> memory_further_out(const Arch& arch, ComponentId component,
                                              const std::string& name) {
  const auto memory = find_component(arch, name);
  if (!memory || !arch[*memory].holds_tensors() || memory->index() >= component.index())
    return std::nullopt;
  return memory;
}

}  // namespace sluice
