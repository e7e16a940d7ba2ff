#pragma once

#include <map>
#include <optional>
#include <string>

#include "sluice/frontend/load.h"
#include "sluice/mapper/mapper.h"

namespace sluice {

/// The options of a search: `options` with the machine's defaults (a thread a processor, half of
/// the memory), those of the specs, and those given by name, which go first. All mistakes are
/// returned together.
Result<MapperOptions> search_options(const std::map<std::string, std::string>& given,
                                     const Specs& specs, MapperOptions options = {});

/// What keeps a search from comparing anything: an energy that is null, a time that an objective
/// needs, or what leaks for a time that is not known. Nothing where all is known. `specs` (those of
/// the architecture) say where an energy stands.
std::optional<Diagnostic> unknown_price(const Arch& arch, const Specs& specs,
                                        const MapperOptions& options);

}  // namespace sluice
