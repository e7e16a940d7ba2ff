#include "sluice/mapper/registry.h"

#include "mapper/strategies/compound_mapper.h"
#include "mapper/strategies/fused_mapper.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {

const MapperRegistry& standard_mappers() {
  static const MapperRegistry table = [] {
    MapperRegistry mappers;
    mappers.emplace<FusedMapper>();
    mappers.emplace<CompoundMapper>();
    mappers.emplace<ExhaustiveMapper>();
    mappers.emplace<RandomMapper>();
    mappers.emplace<AnnealMapper>();
    mappers.emplace<GeneticMapper>();
    mappers.emplace<IterativeMapper>();
    return mappers;
  }();
  return table;
}

}  // namespace sluice
