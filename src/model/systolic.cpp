#include "model/systolic.h"

namespace sluice {

std::optional<ComponentId> systolic_array_of(const Arch& arch, const BoundCompute& compute) {
  for (ComponentId id : compute.path)
    if (const Container* container = std::get_if<Container>(&arch[id].kind))
      if (container->array) return id;
  return std::nullopt;
}

}  // namespace sluice
