#include "sluice/mapper/registry.h"

#include "sluice/mapper/fused_mapper.h"

namespace sluice {

const std::vector<const Mapper*>& mappers() {
  static const FusedMapper fused;
  static const std::vector<const Mapper*> table = {&fused};
  return table;
}

const Mapper* find_mapper(const std::string& name) {
  for (const Mapper* mapper : mappers())
    if (mapper->name() == name) return mapper;
  return nullptr;
}

}  // namespace sluice
