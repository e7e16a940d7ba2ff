#include <chrono>
#include <cmath>

#include "filled_fanouts.h"
#include "mapper/common/asked_usage.h"
#include "report/document/result_document.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/leftovers.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/efficiency.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/keep_rules.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/network/layers_mapper.h"
#include "sluice/network/network_search.h"
#include "sluice/support/error.h"
#include "sluice/sweep/sweep.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

/// The donor's mapping where it is one of the space that is searched here: then it bounds the
/// search. Fanouts that ask for more usage, constraints and lists of mappings make that hard to
/// tell.
std::optional<MappedResult> start_of(const SweepInputs& inputs, const Mapper& mapper,
                                     const std::string& donor) {
  const MapperOptions& options = inputs.options;
  if (donor.empty() || mapper.name() != "fused" || options.objectives.size() != 1 ||
      options.top != 1 || options.resource_usage || options.explore_einsum_orders ||
      options.constraints != Constraints{})
    return std::nullopt;
  const BoundProblem& problem = inputs.problem;
  const auto specs = load_specs_from_text(
      {{"specs", to_yaml(problem.workload)}, {"arch", to_yaml(problem.arch)}, {"donor", donor}},
      {});
  if (!specs || specs->mappings.size() != 1) return std::nullopt;
  const Mapping& mapping = specs->mappings.front();
  auto cost = evaluate(problem, mapping, options.policy);
  if (!cost || !keep_violations(problem, mapping).empty()) return std::nullopt;
  if (asks_for_usage(problem.arch) && !fills_fanouts(problem, mapping)) return std::nullopt;
  return MappedResult{mapping, std::move(*cost)};
}

SweepComponent component_of(const BoundProblem& problem, const Cost& cost,
                            const Efficiency& efficient, ComponentId id) {
  SweepComponent component;
  component.name = problem.arch[id].name;
  for (const EnergyRow& row : cost.energy)
    if (row.component == id) component.energy_j += row.energy_j;
  for (const Utilisation& row : efficient.utilisation)
    if (row.component == id) {
      component.of_peak = row.of_peak;
      component.busy = row.busy;
    }
  for (const OccupancyRow& row : cost.occupancy)
    if (row.component == id) {
      component.peak_bits = row.peak_bits;
      if (std::isfinite(row.capacity_bits)) component.capacity_bits = row.capacity_bits;
    }
  return component;
}

SweepMapping mapping_of(const BoundProblem& problem, const MappedResult& mapped) {
  const Cost& cost = mapped.cost;
  const Efficiency efficient = efficiency(problem, cost);
  SweepMapping result;
  result.energy_j = cost.energy_j;
  result.latency_s = cost.latency_s;
  result.edp_js = cost.edp_js();
  result.leak_energy_j = cost.leak_energy_j;
  result.operations_per_s = efficient.operations_per_s;
  result.operations_per_j = efficient.operations_per_j;
  result.power_w = efficient.power_w;
  result.mapping = to_yaml(mapped.mapping, problem.workload, problem.arch);
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (!std::holds_alternative<Container>(problem.arch.components[c].kind))
      result.components.push_back(component_of(problem, cost, efficient, ComponentId(c)));
  return result;
}

/// What no mapping's objective is below, as far as the search knows.
std::optional<double> bound_of(const Guarantee& guarantee, double found) {
  if (guarantee.kind == GuaranteeKind::kOptimal) return found;
  if (guarantee.kind == GuaranteeKind::kWithinEpsilon) return found / (1 + guarantee.epsilon);
  if (guarantee.kind == GuaranteeKind::kGap && guarantee.bound > 0) return guarantee.bound;
  return std::nullopt;
}

void take(const SweepInputs& inputs, MapperResult found, SweepRun* run) {
  const BoundProblem& problem = inputs.problem;
  run->status = "ok";
  run->guarantee = cli::guarantee_name(found.guarantee.kind);
  run->ended_by = found.search.ended_by;
  run->timing.mappings_evaluated = found.search.mappings_evaluated;
  run->bound = bound_of(found.guarantee, objective_value(inputs.options.objectives.front(),
                                                         found.mappings.front().cost));
  const bool has_unknown = has_unknown_prices(problem.arch);
  for (MappedResult& mapped : found.mappings) {
    if (has_unknown) {  // searched as if they were none
      auto cost = evaluate(problem, mapped.mapping, inputs.options.policy);
      SLUICE_CHECK(cost.has_value(), "a mapping that was found is illegal");
      mapped.cost = std::move(*cost);
    }
    run->mappings.push_back(mapping_of(problem, mapped));
  }
}

}  // namespace

std::optional<SweepRun> search_point(const SweepInputs& inputs, const std::string& donor,
                                     const std::atomic<bool>* cancel, Leftovers* leftovers) {
  const MapperChoice choice = inputs.is_mapper_chosen
                                  ? MapperChoice{all_mappers().find(inputs.options.mapper)}
                                  : default_network_mapper(inputs.problem, inputs.options);
  const Mapper* mapper = choice.mapper;
  SLUICE_CHECK(mapper != nullptr, "a mapper that does not exist was not refused");
  const auto begin = std::chrono::steady_clock::now();
  const BoundProblem searched = without_unknown_prices(inputs.problem);
  Incumbent incumbent;
  Leftovers own;
  if (auto start = start_of(inputs, *mapper, donor))
    incumbent.offer(objective_value(inputs.options.objectives.front(), start->cost),
                    std::move(*start));
  MapperControl control;
  control.cancel = cancel;
  control.incumbent = &incumbent;
  control.leftovers = &own;
  auto found = search_network(choice, searched, inputs.options, control);
  if (is_cancelled(cancel)) {
    if (leftovers != nullptr) own.move_to(leftovers);
    return std::nullopt;
  }
  SweepRun run;
  run.key = sweep_key(inputs);
  run.workload = inputs.problem.workload.name;
  run.arch = inputs.problem.arch.name;
  run.mapper = mapper->name();
  run.area_m2 = inputs.problem.area_m2;
  run.operations = operations_of(inputs.problem.workload);
  if (found) {
    take(inputs, std::move(*found), &run);
  } else {
    run.status = "no_mapping";
    run.guarantee = found.error().proven ? "optimal" : "none";
    run.reason = found.error().reason;
  }
  run.timing.seconds = seconds_since(begin);
  return run;
}

}  // namespace sluice
