#pragma once

#include <map>
#include <string>

#include "report/document/result_document.h"
#include "sluice/frontend/search_request.h"
#include "sluice/network/layers_mapper.h"

namespace sluice::cli {

/// As sluice::search_options. Throws Failure with all that is wrong with them.
MapperOptions search_options_or_fail(const std::map<std::string, std::string>& given,
                                     const Specs& specs, MapperOptions options = {});

/// Throws Failure where there is no mapper of that name.
const Mapper& mapper_or_fail(const std::string& name,
                             const MapperRegistry& mappers = all_mappers());

/// Throws Failure where a budget counts mappings: `fused` does not price one after the other.
void require_time_budget(const MapperOptions& options);

/// The mapper that `given` or the specs name, or what fits the result's problem and options where
/// they name none; the result says which and why, and what it leaves aside. Throws Failure where
/// there is no such mapper, or it does not know such a budget.
MapperChoice choose_mapper(const std::map<std::string, std::string>& given, const Specs& specs,
                           const MapperRegistry& mappers, RunResult* result);

/// Throws Failure where an energy or a time is unknown that the objectives need (unknown_price).
void require_prices(const Arch& arch, const Specs& specs, const MapperOptions& options);

/// Likewise, of a search that may compare times alone: with `explains`, more than these is said.
void require_prices_of_search(const Arch& arch, const Specs& specs, const MapperOptions& options,
                              bool explains);

}  // namespace sluice::cli
