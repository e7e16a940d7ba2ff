#pragma once

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Runs a mapper on every order of the Einsums (at most kMostEinsumOrders) and puts together what
/// it finds, in terms of the Einsums of `problem`. What is known of earlier orders need not be
/// found again in later ones. An order counts as explored where its search came to its end.
tl::expected<MapperResult, NoMapping> map_in_all_orders(const Mapper& mapper,
                                                        const BoundProblem& problem,
                                                        const MapperOptions& options,
                                                        const MapperControl& control);

/// The same where the options ask for it, else in the order written.
inline tl::expected<MapperResult, NoMapping> map_in_orders(const Mapper& mapper,
                                                           const BoundProblem& problem,
                                                           const MapperOptions& options,
                                                           const MapperControl& control) {
  if (options.explore_einsum_orders) return map_in_all_orders(mapper, problem, options, control);
  return mapper.map(problem, options, control);
}

}  // namespace sluice
