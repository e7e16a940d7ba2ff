#pragma once

#include <optional>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The mappers that price all of the problem under the options.
std::vector<const Mapper*> mappers_that_price(const BoundProblem& problem,
                                              const MapperOptions& options);

/// Why a mapper cannot search at all: its prices leave something out. Names those that can. Nothing
/// where it prices everything.
std::optional<NoMapping> refused_as_unpriced(const Mapper& mapper, const BoundProblem& problem,
                                             const MapperOptions& options);

}  // namespace sluice
