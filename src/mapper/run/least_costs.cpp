#include "sluice/mapper/least_costs.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "mapper/common/part_of_problem.h"
#include "mapper/shape/isomorphic.h"
#include "mapper/space/template_lists.h"
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

tl::unexpected<NoMapping> interrupted() {
  NoMapping no;
  no.reason = "interrupted";
  no.proven = false;
  return tl::unexpected(std::move(no));
}

class Floor {
 public:
  Floor(const BoundProblem& problem, const MapperOptions& options, const MapperControl& control)
      : problem_(problem), options_(options), control_(control) {
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
    LeastCostsOfWorkload result;
    auto fused = search_all(problem_, options_);
    if (!fused) return tl::unexpected(std::move(fused.error()));
    result.fused = *fused;
    result.space = std::move(space_);
    if (problem_.einsums.size() == 1) {
      result.alone = result.fused;
      return result;
    }
    MapperOptions free = options_;
    free.constraints = {};
    for (const auto& [einsum, times] : times_) {
      auto alone = search_all(part_of_problem(problem_, {einsum}), free);
      if (!alone) return tl::unexpected(std::move(alone.error()));
      add(alone->traffic_bits, times, &result.alone.traffic_bits);
      add(alone->energy_j, times, &result.alone.energy_j);
      add(alone->latency_s, times, &result.alone.latency_s);
    }
    return result;
  }

 private:
  /// Of Einsums that differ in names only, the first, and how many there are.
  void count_einsums() {
    std::vector<fused::EinsumShape> shapes;
    for (std::size_t e = 0; e < problem_.einsums.size(); ++e) {
      fused::EinsumShape shape = fused::make_einsum_shape(problem_, EinsumId(e));
      const auto same = std::find_if(shapes.begin(), shapes.end(), [&](const auto& other) {
        return !shape.recurrence.step && fused::same_problem(problem_, other, shape) &&
               fused::same_templates(problem_, other.einsum, shape.einsum);
      });
      if (same != shapes.end()) {
        times_[static_cast<std::size_t>(same - shapes.begin())].second += 1;
        continue;
      }
      shapes.push_back(std::move(shape));
      times_.emplace_back(EinsumId(e), 1);
    }
  }

  tl::expected<LeastCosts, NoMapping> search_all(const BoundProblem& problem,
                                                 const MapperOptions& options) {
    auto traffic = search(traffic_problem(problem), options, Objective::kEnergy, false);
    if (!traffic) return tl::unexpected(std::move(traffic.error()));
    auto energy = search(problem, options, Objective::kEnergy);
    if (!energy) return tl::unexpected(std::move(energy.error()));
    auto latency = search(problem, options, Objective::kLatency);
    if (!latency) return tl::unexpected(std::move(latency.error()));
    return LeastCosts{*traffic, *energy, *latency};
  }

  /// `is_given`: the problem is the given one, or a part of it.
  tl::expected<Least, NoMapping> search(const BoundProblem& problem, MapperOptions options,
                                        Objective objective, bool is_given = true) {
    if (is_cancelled(control_.cancel)) return interrupted();
    options.objectives = {objective};
    MapperControl control = control_;
    if (control_.progress)
      control.progress = [this](const std::string& phase, double fraction) {
        control_.progress(phase, (n_searched_ + fraction) / static_cast<double>(n_searches_));
      };
    auto found = run_mapper(*standard_mappers().find("fused"), problem, options, control);
    n_searched_ += 1;
    if (!found) return tl::unexpected(std::move(found.error()));
    if (found->cancelled && is_cancelled(control_.cancel)) return interrupted();
    Least least;
    least.value = objective_value(objective, found->mappings.front().cost);
    least.is_proven = found->guarantee.kind == GuaranteeKind::kOptimal;
    least.bound = least.is_proven ? least.value : bound_of(found->guarantee, least.value);
    if (is_given && space_.space.empty()) space_ = std::move(found->guarantee);
    return least;
  }

  static double bound_of(const Guarantee& guarantee, double value) {
    if (guarantee.kind == GuaranteeKind::kGap) return guarantee.bound;
    return guarantee.kind == GuaranteeKind::kWithinEpsilon ? value / (1 + guarantee.epsilon) : 0;
  }

  const BoundProblem& problem_;
  MapperOptions options_;
  MapperControl control_;
  std::vector<std::pair<EinsumId, double>> times_;
  std::size_t n_searches_ = 0;
  double n_searched_ = 0;
  Guarantee space_;
};

}  // namespace

BoundProblem traffic_problem(const BoundProblem& problem) {
  const std::set<ComponentId> outermost = outermost_memories(problem);
  Arch arch = problem.arch;
  for (std::size_t c = 0; c < arch.components.size(); ++c) {
    Component& component = arch.components[c];
    component.leak_power_w = 0;
    if (auto* network = std::get_if<Network>(&component.kind)) network->hop_energy_j = 0;
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

tl::expected<LeastCostsOfWorkload, NoMapping> least_costs(const BoundProblem& problem,
                                                          const MapperOptions& options,
                                                          const MapperControl& control) {
  return Floor(problem, options, control).run();
}

}  // namespace sluice
