#pragma once

#include <map>
#include <string>

#include "sluice/frontend/load.h"
#include "sluice/mapper/mapper.h"
#include "sluice/network/layers_mapper.h"

namespace sluice::cli {

/// The options of a search: `options` with the machine's defaults, those of the specs, and those
/// given as flags, by name. Throws Failure with all that is wrong with them.
MapperOptions search_options(const std::map<std::string, std::string>& given, const Specs& specs,
                             MapperOptions options = {});

/// Throws Failure where there is no mapper of that name.
const Mapper& mapper_or_fail(const std::string& name,
                             const MapperRegistry& mappers = all_mappers());

/// Throws Failure where a budget counts mappings: `fused` does not price one after the other.
void require_time_budget(const MapperOptions& options);

/// Throws Failure where energies are unknown: no objective can be compared then.
void require_energies(const Arch& arch);

/// Throws Failure where times are unknown that an objective needs: a latency that is not known
/// ranks nothing, nor does what leaks as long as it lasts.
void require_times(const Arch& arch, const MapperOptions& options);

}  // namespace sluice::cli
