#include "first_mapping.h"

#include <chrono>
#include <utility>

#include "mapper/common/budget_watch.h"
#include "mapper/common/part_of_problem.h"
#include "order_search.h"
#include "sluice/mapper/incumbent.h"

namespace sluice {

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
  MapperOptions alone = options;
  alone.constraints = {};
  alone.row_fusion = false;
  alone.explore_einsum_orders = false;
  for (std::size_t e = 0; e < problem.einsums.size() && problem.einsums.size() > 1; ++e) {
    const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0 || is_cancelled(cancel)) break;
    auto found = find_any(mapper, one_as_bound(problem, EinsumId(e)), alone, cancel, left.count());
    if (!found.no || !found.no->memory) continue;
    found.no->einsum = EinsumId(e);
    found.no->proven = false;  // of the whole workload, which may keep tensors elsewhere
    return std::move(found.no);
  }
  return std::nullopt;
}

}  // namespace sluice
