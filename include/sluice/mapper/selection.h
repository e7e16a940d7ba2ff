#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Why a mapper cannot do at all what is asked for: its prices leave a part of the machine or the
/// policy out, or an option or a constraint asks for something that its space does not have. Names
/// the mappers that can. Nothing if it can.
std::optional<NoMapping> refused_request(const Mapper& mapper, const BoundProblem& problem,
                                         const MapperOptions& options);

/// The mapper to take where nobody chose one.
struct MapperChoice {
  const Mapper* mapper = nullptr;
  std::string reason;  ///< why not `fused`; empty where it is
};

/// `fused`; where that refuses and `compound` does not, `compound`.
MapperChoice default_mapper(const BoundProblem& problem, const MapperOptions& options);

}  // namespace sluice
