#include "first_mapping.h"

#include <chrono>
#include <utility>

#include "mapper/common/budget_watch.h"
#include "mapper/common/part_of_problem.h"
#include "order_search.h"
#include "sluice/mapper/incumbent.h"

namespace sluice {
namespace {

/// To search an Einsum alone, without constraints.
MapperOptions options_alone(MapperOptions options) {
  options.constraints = {};
  options.row_fusion = false;
  options.explore_einsum_orders = false;
  return options;
}

/// What is too small for an Einsum, of what a search of it alone has shown.
std::optional<NoMapping> too_small_alone(EinsumId einsum, Feasibility found) {
  if (!found.no || !found.no->memory) return std::nullopt;
  found.no->einsum = einsum;
  return std::move(found.no);
}

/// Those that concern an Einsum whatever it exchanges with others.
Constraints constraints_alone(Constraints constraints, EinsumId einsum) {
  const auto keep_own = [&](auto* list) {
    std::erase_if(*list, [&](const auto& own) { return own.einsum.value_or(einsum) != einsum; });
    for (auto& own : *list) own.einsum.reset();
  };
  keep_own(&constraints.storage);
  keep_own(&constraints.tiles);
  keep_own(&constraints.spatial);
  keep_own(&constraints.loop_orders);
  constraints.fusion.clear();
  constraints.schedules.clear();
  constraints.collectives.clear();
  return constraints;
}

}  // namespace

Feasibility find_any(const Mapper& mapper, const BoundProblem& problem,
                     const MapperOptions& options, const std::atomic<bool>* cancel,
                     std::optional<double> seconds) {
  BudgetWatch watch(seconds, std::nullopt, cancel);
  Incumbent first([&watch](double, const MappedResult&) { watch.stop(); });
  MapperControl control;
  control.cancel = watch.flag();
  control.incumbent = &first;
  auto outcome = map_in_orders(mapper, problem, options, control);
  Feasibility result;
  result.has_mapping = first.best() || (outcome && !outcome->mappings.empty());
  if (!outcome && !result.has_mapping && outcome.error().proven)
    result.no = std::move(outcome.error());
  return result;
}

std::optional<NoMapping> too_small_for_one(const Mapper& mapper, const BoundProblem& problem,
                                           const MapperOptions& options,
                                           const std::atomic<bool>* cancel) {
  constexpr std::chrono::duration<double> kMoment(0.1);
  const auto end = std::chrono::steady_clock::now() + kMoment;
  const MapperOptions alone = options_alone(options);
  for (std::size_t e = 0; e < problem.einsums.size() && problem.einsums.size() > 1; ++e) {
    const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0 || is_cancelled(cancel)) break;
    auto no = too_small_alone(EinsumId(e), find_any(mapper, one_as_bound(problem, EinsumId(e)),
                                                    alone, cancel, left.count()));
    if (!no) continue;
    no->proven = false;  // of the whole workload, which may keep tensors elsewhere
    return no;
  }
  return std::nullopt;
}

NoMapping checked_alone(const Mapper& mapper, const BoundProblem& problem,
                        const MapperOptions& options, const std::atomic<bool>* cancel,
                        NoMapping no) {
  constexpr double kMoment = 0.1;  // s
  if (problem.einsums.size() < 2 || !no.memory || !no.einsum) return no;
  MapperOptions alone = options_alone(options);
  const auto search = [&](EinsumId einsum) {
    alone.constraints = constraints_alone(options.constraints, einsum);
    return find_any(mapper, one_as_bound(problem, einsum), alone, cancel, kMoment);
  };
  if (!search(*no.einsum).has_mapping) return no;
  for (std::size_t e = 0; e < problem.einsums.size() && !is_cancelled(cancel); ++e) {
    if (EinsumId(e) == *no.einsum) continue;
    if (auto other = too_small_alone(EinsumId(e), search(EinsumId(e)))) return *std::move(other);
  }
  return no;
}

}  // namespace sluice
