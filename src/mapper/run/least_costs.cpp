#include "sluice/mapper/least_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "equal_einsums.h"
#include "mapper/common/asked_usage.h"
#include "mapper/common/part_of_problem.h"
#include "mapper/request/overridden_rules.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

std::set<ComponentId> outermost_memories(const BoundProblem& problem) {
  std::set<ComponentId> result;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes) {
      const auto first =
          std::find_if(compute.path.begin(), compute.path.end(), [&](ComponentId id) {
            return problem.arch[id].is_memory() && einsum.components[id.index()].enabled;
          });
      if (first != compute.path.end()) result.insert(*first);
    }
  return result;
}

void add(const Least& part, double times, Least* sum) {
  sum->value += times * part.value;
  sum->bound += times * part.bound;
  sum->is_proven = sum->is_proven && part.is_proven;
}

constexpr Least LeastCosts::*kNumbers[] = {&LeastCosts::traffic_bits, &LeastCosts::energy_j,
                                           &LeastCosts::latency_s};
constexpr double kInfinite = std::numeric_limits<double>::infinity();

class Floor {
 public:
  Floor(const BoundProblem& problem, const MapperOptions& options, const MapperControl& control,
        const LeastCostsOfWorkload* smaller)
      : problem_(problem), options_(options), control_(control), smaller_(smaller) {
    options_.mapper = "fused";
    options_.policy = LatencyPolicy::kOverlap;
    options_.resource_usage = false;
    options_.top = 1;
    options_.row_fusion = false;
    options_.explore_einsum_orders = false;
    control_.incumbent = nullptr;
    control_.known_objective.reset();
    count_einsums();
    n_searches_ = 3 * (1 + (problem.einsums.size() > 1 ? times_.size() : 0));
  }

  tl::expected<LeastCostsOfWorkload, NoMapping> run() {
    auto fused = search_all(problem_, std::nullopt, options_);
    if (!fused) return tl::unexpected(std::move(fused.error()));
    if (std::none_of(std::begin(kNumbers), std::end(kNumbers),
                     [&](auto number) { return std::isfinite(((*fused).*number).value); }))
      return tl::unexpected(std::move(no_));
    result_.fused = *fused;
    if (problem_.einsums.size() == 1)
      result_.alone = result_.fused;
    else
      search_alone();
    result_.is_cancelled = is_cancelled(control_.cancel);
    return std::move(result_);
  }

 private:
  void count_einsums() {
    for (const EinsumId first : first_equals(problem_)) times_[first] += 1;
  }

  void search_alone() {
    MapperOptions free = options_;
    free.constraints = {};
    for (const auto& [einsum, times] : times_) {
      const Result<BoundProblem> part = bind_part(problem_, {einsum});
      auto alone = part ? search_all(*part, einsum, free) : tl::make_unexpected(no_part(einsum));
      if (!alone) {
        result_.alone = {{kInfinite, 0, false}, {kInfinite, 0, false}, {kInfinite, 0, false}};
        result_.no_alone = std::move(alone.error());
        return;
      }
      for (const auto number : kNumbers) add((*alone).*number, times, &(result_.alone.*number));
    }
  }

  /// Rules of the architecture need the other Einsums.
  NoMapping no_part(EinsumId einsum) const {
    NoMapping no;
    no.einsum = einsum;
    no.reason = fmt::format("the architecture's rules make no sense for the Einsum {} alone",
                            problem_.workload[einsum].name);
    return no;
  }

  tl::expected<LeastCosts, NoMapping> search_all(const BoundProblem& problem,
                                                 std::optional<EinsumId> alone,
                                                 const MapperOptions& options) {
    LeastCosts costs;
    const BoundProblem of_traffic = traffic_problem(problem);
    for (int n = 0; n < 3; ++n) {
      auto least = search(n == 0 ? of_traffic : problem, {alone, n}, options,
                          n == 2 ? Objective::kLatency : Objective::kEnergy);
      if (!least) return tl::unexpected(std::move(least.error()));
      costs.*kNumbers[n] = *least;
    }
    return costs;
  }

  /// A proven no is one of all mappings. Else what was found by the end is taken.
  tl::expected<Least, NoMapping> search(const BoundProblem& problem, const LeastSearch& which,
                                        MapperOptions options, Objective objective) {
    options.objectives = {objective};
    Least least{kInfinite, 0, false};
    if (!may_override_keep(problem, options.constraints))
      least.bound = objective_bound(objective, problem.bounds);
    std::optional<MappedResult> best = known(which);
    if (!is_cancelled(control_.cancel)) {
      auto found = run_fused(problem, options, best);
      n_searched_ += 1;
      if (!found && found.error().proven && !best) return tl::unexpected(std::move(found.error()));
      if (!found)
        no_ = std::move(found.error());
      else
        take(std::move(*found), which, objective, &least, &best);
    }
    if (best) {
      least.value = objective_value(objective, best->cost);
      least.is_proven = least.value <= least.bound;
      if (least.is_proven) least.bound = least.value;
      result_.found.emplace(which, std::move(*best));
    }
    return least;
  }

  tl::expected<MapperResult, NoMapping> run_fused(const BoundProblem& problem,
                                                  const MapperOptions& options,
                                                  const std::optional<MappedResult>& known) const {
    Incumbent incumbent;
    MapperControl control = control_;
    control.incumbent = &incumbent;
    if (known) incumbent.offer(objective_value(options.objectives.front(), known->cost), *known);
    if (control_.progress)
      control.progress = [this](const std::string& phase, double fraction) {
        control_.progress(phase, (n_searched_ + fraction) / static_cast<double>(n_searches_));
      };
    return run_mapper(*standard_mappers().find("fused"), problem, options, control);
  }

  void take(MapperResult found, const LeastSearch& which, Objective objective, Least* least,
            std::optional<MappedResult>* best) {
    if (!which.alone && which.number > 0 && result_.space.space.empty())
      result_.space = found.guarantee;
    if (found.mappings.empty()) return;
    const double value = objective_value(objective, found.mappings.front().cost);
    least->bound = std::max(least->bound, bound_of(found.guarantee, value));
    if (!*best || value < objective_value(objective, (*best)->cost))
      *best = std::move(found.mappings.front());
  }

  std::optional<MappedResult> known(const LeastSearch& which) const {
    if (smaller_ == nullptr || (which.number > 0 && asks_for_usage(problem_.arch)))
      return std::nullopt;
    const auto found = smaller_->found.find(which);
    return found == smaller_->found.end() ? std::nullopt : std::optional(found->second);
  }

  static double bound_of(const Guarantee& guarantee, double value) {
    switch (guarantee.kind) {
      case GuaranteeKind::kOptimal:
        return value;
      case GuaranteeKind::kWithinEpsilon:
        return value / (1 + guarantee.epsilon);
      case GuaranteeKind::kGap:
        return guarantee.bound;
      case GuaranteeKind::kNone:
        break;
    }
    return 0;
  }

  const BoundProblem& problem_;
  MapperOptions options_;
  MapperControl control_;
  const LeastCostsOfWorkload* smaller_;
  std::map<EinsumId, double> times_;  ///< of Einsums that differ in names only, the first
  std::size_t n_searches_ = 0;
  double n_searched_ = 0;
  NoMapping no_;  ///< of the last search that found nothing and proved nothing
  LeastCostsOfWorkload result_;
};

}  // namespace

BoundProblem traffic_problem(const BoundProblem& problem) {
  const std::set<ComponentId> outermost = outermost_memories(problem);
  Arch arch = problem.arch;
  for (std::size_t c = 0; c < arch.components.size(); ++c) {
    Component& component = arch.components[c];
    component.leak_power_w = 0;
    if (auto* network = std::get_if<Network>(&component.kind)) network->hop_energy_j = 0;
    if (auto* memory = std::get_if<Memory>(&component.kind))
      memory->partial_actions = PartialActions::kPart;
    for (SpatialDimension& dimension : component.spatial) dimension.min_usage.reset();
    for (Action& action : component.actions) {
      action.energy_j = 0;
      if (!outermost.contains(ComponentId(c))) continue;
      action.energy_j = 1;
      action.bits_per_action = 1;
      action.values_per_action.reset();
    }
  }
  auto bound = bind(problem.workload, arch, problem.algorithms);
  SLUICE_CHECK(bound.has_value(), "a problem that was bound does not bind at other energies");
  return std::move(*bound);
}

namespace {

/// The architecture with the memories of another; areas are no matter of mappings.
Arch with_sizes(Arch arch, const Arch& sizes) {
  for (std::size_t c = 0; c < arch.components.size() && c < sizes.components.size(); ++c) {
    auto* memory = std::get_if<Memory>(&arch.components[c].kind);
    const auto* other = std::get_if<Memory>(&sizes.components[c].kind);
    if (memory != nullptr && other != nullptr) memory->size_bits = other->size_bits;
    arch.components[c].area_m2.reset();
  }
  return arch;
}

}  // namespace

bool only_grows(const BoundProblem& smaller, const BoundProblem& larger,
                Least LeastCosts::*number) {
  if (number != &LeastCosts::traffic_bits && asks_for_usage(larger.arch)) return false;
  if (smaller.workload != larger.workload ||
      with_sizes(larger.arch, smaller.arch) != with_sizes(smaller.arch, smaller.arch))
    return false;
  for (std::size_t e = 0; e < larger.einsums.size(); ++e)
    for (std::size_t c = 0; c < larger.arch.components.size(); ++c)
      if (larger.einsums[e].components[c].size_bits < smaller.einsums[e].components[c].size_bits)
        return false;
  return true;
}

tl::expected<LeastCostsOfWorkload, NoMapping> least_costs(const BoundProblem& problem,
                                                          const MapperOptions& options,
                                                          const MapperControl& control,
                                                          const LeastCostsOfWorkload* smaller) {
  return Floor(problem, options, control, smaller).run();
}

}  // namespace sluice
