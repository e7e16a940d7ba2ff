#pragma once

#include "sluice/mapper/mapper.h"
#include "sluice/support/registry.h"

namespace sluice {

using MapperRegistry = Registry<Mapper>;

/// Every mapper that ships with Sluice, in the order in which `sluice list mappers` shows them:
/// fused, compound, exhaustive, random, anneal, genetic, iterative (docs/mappers.md).
const MapperRegistry& standard_mappers();

}  // namespace sluice
