#pragma once

#include <optional>
#include <string>

#include "sluice/mapper/registry.h"

namespace sluice {

/// Why a mapper cannot do at all what is asked for: its prices leave a part of the machine or the
/// policy out, or an option or a constraint asks for something that its space does not have. Names
/// those of `mappers` that can. Nothing if it can.
std::optional<NoMapping> refused_request(const Mapper& mapper, const BoundProblem& problem,
                                         const MapperOptions& options,
                                         const MapperRegistry& mappers = standard_mappers());

/// The mapper to take where nobody chose one.
struct MapperChoice {
  const Mapper* mapper = nullptr;
  std::string reason = {};        ///< why not `fused` alone; empty where it is
  const Mapper* first = nullptr;  ///< whose mapping the search begins with; null: none
  const Mapper* then = nullptr;   ///< has what `mapper` leaves of a budget, or cannot answer
};

/// `fused` (the first of `mappers` where they have no fused); where that refuses and `compound`
/// does not, `compound`. Throws std::invalid_argument where there are no mappers.
MapperChoice default_mapper(const BoundProblem& problem, const MapperOptions& options,
                            const MapperRegistry& mappers = standard_mappers());

}  // namespace sluice
