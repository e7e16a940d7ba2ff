#include "sluice/mapper/registry.h"

#include "sluice/mapper/fused_mapper.h"
#include "sluice/mapper/sampling_mappers.h"

namespace sluice {

const std::vector<const Mapper*>& mappers() {
  static const FusedMapper fused;
  static const RandomMapper random;
  static const std::vector<const Mapper*> table = {&fused, &random};
  return table;
}

const Mapper* find_mapper(const std::string& name) {
  for (const Mapper* mapper : mappers())
    if (mapper->name() == name) return mapper;
  return nullptr;
}

}  // namespace sluice
