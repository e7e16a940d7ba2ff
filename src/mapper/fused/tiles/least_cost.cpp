#include "least_cost.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "mapper/common/parallel.h"
#include "state_lists.h"

namespace sluice::fused {
namespace {

using RowKind = SimpleProgram::RowKind;

/// A program that asks for latency, or for energy but leakage, alone; rows that are left out only
/// lower the bound. Of latencies and their limits the plain products: compute time, and the fanouts
/// it depends on.
SimpleProgram only(const SimpleProgram& program, Objective objective) {
  const bool of_energy = objective == Objective::kEnergy;
  SimpleProgram result = program;
  result.leak_w = 0;
  if (!of_energy)
    for (auto& row : result.rows)
      if (row.kind == RowKind::kEnergy) row.terms.clear();
  std::erase_if(result.rows, [&](const SimpleProgram::SimpleRow& row) {
    return row.kind == RowKind::kSegment || row.kind == RowKind::kPersistent ||
           (row.kind == RowKind::kLatency && of_energy) ||
           (row.kind != RowKind::kEnergy && !of_energy && row.terms.size() > 1);
  });
  result.find_signs();
  return result;
}

/// The least energy or latency of one template, as far as it is below the context's limit (else
/// that). Class by class, keeping the assignments that no other beats. None: too much work.
std::optional<double> least_of(const TileSearchContext& context, const Template& templ,
                               const CompiledTemplate& whole, double least_latency) {
  SearchBound bound = context.bound;
  const bool of_energy = bound.objective == Objective::kEnergy;
  const double loose = of_energy ? whole.program.least_energy : whole.program.least_latency;
  if (whole.considered == 0 || !whole.program.feasible || loose >= bound.limit) return bound.limit;
  const double leakage =
      of_energy ? whole.program.leak_w * std::max(least_latency, whole.program.least_latency) : 0;
  bound.limit -= leakage;
  if (!whole.program.monotone) return std::nullopt;
  // More extensions, or assignments at once, would cost more than the bound saves.
  constexpr std::size_t kMostWork = 2000000, kMostPoints = 10000;
  CompiledTemplate compiled = whole;
  compiled.program = only(whole.program, bound.objective);
  const std::size_t n = compiled.classes.size();
  StateLists lists(context, templ, compiled, std::vector<std::uint32_t>(n, 0));
  std::size_t work = 0;
  Extensions extensions;
  const auto may_be_less = [&](double energy, double latency) {
    return !bound.hopeless(energy, latency);
  };
  PointSet points{lists.sums().stage(0).width, lists.sums().stage(0).initial};
  for (std::size_t depth = 1; depth <= n; ++depth) {
    PointSet all, kept;
    all.dimension = kept.dimension = lists.sums().stage(depth).width;
    const StateBlock& block = lists.lists(lists.order()[depth - 1]).front().block;
    for (std::size_t p = 0; p < points.size(); ++p) {
      work += block.n_groups() +
              lists.sums().extend_where(
                  depth, points.point(p), block, may_be_less, &extensions,
                  [&](std::uint32_t s, std::uint32_t) {
                    all.values.resize(all.values.size() + all.dimension);
                    lists.sums().gather(depth, extensions, s,
                                        all.values.data() + all.values.size() - all.dimension);
                  });
      if (work > kMostWork) return std::nullopt;
    }
    if (all.size() > kMostPoints) return std::nullopt;
    for (std::uint32_t i : lists.sums().front(depth, all))
      kept.values.insert(kept.values.end(), all.point(i), all.point(i) + all.dimension);
    points = std::move(kept);
  }
  double least = bound.limit, point[2];
  for (std::size_t p = 0; p < points.size(); ++p) {
    lists.sums().finish(points.point(p), point);
    least = std::min(least, point[of_energy ? 0 : 1]);
  }
  return least + leakage;
}

/// One template that is too much work makes all others useless.
double least_of_all(TileSearchContext context, const std::vector<Template>& templates,
                    const std::vector<CompiledTemplate>& compiled, Objective objective,
                    double known, double loose, double least_latency) {
  const double limit = known * (1 - 1e-12);  // what only equals it is not looked for
  context.any_exchange = true;
  context.bound = {.active = true, .objective = objective, .limit = limit};
  std::vector<double> least(templates.size(), limit);
  std::atomic<bool> too_much{false};
  parallel_for(context.options->threads, templates.size(), [&](std::size_t t) {
    if (too_much || is_cancelled(context.cancel)) return;
    const std::optional<double> own = least_of(context, templates[t], compiled[t], least_latency);
    if (own) least[t] = *own;
    if (!own) too_much = true;
  });
  if (is_cancelled(context.cancel)) return loose;  // some were not looked at
  return too_much ? loose : *std::min_element(least.begin(), least.end());
}

}  // namespace

EnergyLatency least_cost(const TileSearchContext& context, const std::vector<Template>& templates,
                         const std::vector<CompiledTemplate>& compiled, EnergyLatency known,
                         EnergyLatency loose) {
  const double latency =
      least_of_all(context, templates, compiled, Objective::kLatency, known.latency, loose.latency, 0);
  return {least_of_all(context, templates, compiled, Objective::kEnergy, known.energy, loose.energy,
                       latency),
          latency};
}

}  // namespace sluice::fused
