#pragma once

#include "sluice/mapper/registry.h"

namespace sluice {

/// Runs a mapper under the options that mean the same for every one of them:
/// - a request that the mapper cannot do at all is refused (refused_request);
/// - `budget_seconds`: the search is cancelled when the time is over; what it had found by then
///   comes back with a gap at most. A NoMapping says so where nothing was found by then;
/// - `Mapper::wants_walks`: random walks run beside the search, and what they find is its answer
///   where it is cancelled, or proves nothing, before it has a better one;
/// - `explore_einsum_orders`: the mapper runs on every order of the Einsums that respects the
///   dependencies (at most 24 of them, the order written first), and the best mapping of all is
///   returned, in terms of the Einsums of `problem`. Needs exactly one objective;
/// - `constraints`: where they leave nothing, the NoMapping names the ones that are to blame.
/// `mappers`: that a refusal may name.
tl::expected<MapperResult, NoMapping> run_mapper(
    const Mapper& mapper, const BoundProblem& problem, const MapperOptions& options,
    const MapperControl& control, const MapperRegistry& mappers = standard_mappers());

}  // namespace sluice
