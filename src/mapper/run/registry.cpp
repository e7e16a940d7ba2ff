#include "sluice/mapper/registry.h"

#include "sluice/mapper/compound_mapper.h"
#include "sluice/mapper/fused_mapper.h"
#include "sluice/mapper/sampling_mappers.h"

namespace sluice {

const std::vector<const Mapper*>& mappers() {
  static const FusedMapper fused;
  static const CompoundMapper compound;
  static const ExhaustiveMapper exhaustive;
  static const RandomMapper random;
  static const AnnealMapper anneal;
  static const GeneticMapper genetic;
  static const IterativeMapper iterative;
  static const std::vector<const Mapper*> table = {&fused,  &compound, &exhaustive, &random,
                                                   &anneal, &genetic,  &iterative};
  return table;
}

const Mapper* find_mapper(const std::string& name) {
  for (const Mapper* mapper : mappers())
    if (mapper->name() == name) return mapper;
  return nullptr;
}

}  // namespace sluice
