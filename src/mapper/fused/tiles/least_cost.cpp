#include "least_cost.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

#include "loop_search.h"
#include "mapper/common/parallel.h"
#include "mapper/common/rounding.h"
#include "sluice/model/einsum_chains.h"
#include "state_lists.h"
#include "support/atomic_extremes.h"

namespace sluice::fused {
namespace {

using RowKind = SimpleProgram::RowKind;
using SimpleRow = SimpleProgram::SimpleRow;

/// A program that asks for energy but leakage alone, within all limits.
SimpleProgram dynamic_energy(const SimpleProgram& program) {
  SimpleProgram result = program;
  const double leakage = program.leak_w * program.least_latency;
  result.least_energy = std::max(0.0, (program.least_energy - leakage) / kAboveRounding);
  result.least_latency = 0;
  result.leak_w = 0;
  std::erase_if(result.rows, [](const SimpleRow& row) {
    return row.kind != RowKind::kEnergy && row.kind != RowKind::kLimit;
  });
  result.find_signs();
  return result;
}

/// A program that asks for latency alone; rows that are left out only lower the bound. Of latencies
/// and limits the plain products: compute time, and the fanouts it depends on.
SimpleProgram plain_latency(const SimpleProgram& program) {
  SimpleProgram result = program;
  result.leak_w = 0;
  for (SimpleRow& row : result.rows)
    if (row.kind == RowKind::kEnergy) row.terms.clear();
  std::erase_if(result.rows, [&](const SimpleRow& row) {
    return row.kind == RowKind::kSegment || row.kind == RowKind::kPersistent ||
           (row.kind != RowKind::kEnergy && row.terms.size() > 1);
  });
  result.find_signs();
  return result;
}

/// The least latency of one template, as far as it is below the context's limit (else that). Class
/// by class, keeping the assignments that no other beats: most loops do not matter. None: too much
/// work.
std::optional<double> least_latency(const TileSearchContext& context, const Template& templ,
                                    const CompiledTemplate& whole) {
  const SearchBound& bound = context.bound;
  // More extensions, or assignments at once, would cost more than the bound saves.
  constexpr std::size_t kMostWork = 2000000, kMostPoints = 10000;
  CompiledTemplate compiled = whole;
  compiled.program = plain_latency(whole.program);
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
    const StateBlock& block = *lists.lists(lists.order()[depth - 1]).front().block;
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
    least = std::min(least, point[1]);
  }
  return least;
}

/// The least energy of one template that takes so long, as far as it is below `known`, which other
/// templates may lower (else that). None: too much work.
std::optional<double> least_energy(const TileSearchContext& context, const CompiledTemplate& whole,
                                   double latency, const std::atomic<double>& known) {
  constexpr double kMostWork = 50000000;  // more would cost more than the bound saves
  const double leakage = whole.program.leak_w * std::max(latency, whole.program.least_latency);
  const SimpleProgram program = dynamic_energy(whole.program);
  LoopSearchRequest request;
  request.classes = &whole.classes;
  request.tables = &whole.tables;
  request.program = &program;
  request.bound = {.active = true, .objective = Objective::kEnergy, .limit = known - leakage};
  request.tighten = [&](SearchBound* bound) { bound->limit = known - leakage; };
  request.cancel = context.cancel;
  request.most_work = kMostWork;
  const LoopSearchResult least = search_loops(request);
  if (least.gave_up) return std::nullopt;
  return least.found ? leakage + least.cost.energy : known.load();
}

/// The least energy of all templates that take so long, by the chains of the Einsum, as far as it
/// is below `known` (else that). None where they do not know all that it costs.
std::optional<double> least_by_chains(const TileSearchContext& context,
                                      const std::vector<CompiledTemplate>& compiled, double latency,
                                      double known) {
  // For each template, which takes about as long to search. Where there are more, some of them may
  // be enough: what is known may be as good as can be.
  constexpr double kMostStates = 2e6, kTried = 0.1;
  if (context.chained == nullptr) return std::nullopt;
  EinsumChains chains(*context.chained, context.shape->einsum, Counted::kWhole);
  if (!chains.know_all()) return std::nullopt;
  double leakage = std::numeric_limits<double>::infinity(), n_templates = 0;
  for (const CompiledTemplate& own : compiled)
    if (own.program.feasible) {
      leakage =
          std::min(leakage, own.program.leak_w * std::max(latency, own.program.least_latency));
      n_templates += own.program.least_energy < known && !own.repeats;
    }
  if (!(leakage < known)) return std::nullopt;
  const double few = kMostStates * n_templates;
  const bool are_few = chains.n_states(known - leakage) <= few;
  const auto in_parallel = [&](std::size_t count, const auto& body) {
    parallel_for(context.options->threads, count, body);
  };
  const auto least =
      chains.least_energy(known - leakage, in_parallel, context.cancel,
                          are_few ? std::numeric_limits<double>::infinity() : kTried * few);
  return least ? std::optional(leakage + *least) : std::nullopt;
}

/// Of all templates, those first that may cost the least; `loose` is a bound of each. One template
/// that is too much work makes all others useless.
template <class Least>
double least_of_all(const TileSearchContext& context, const std::vector<CompiledTemplate>& compiled,
                    double known, double loose, double SimpleProgram::*bound, const Least& least) {
  std::atomic<double> best{known * (1 - 1e-12)};  // what only equals it is not looked for
  if (loose >= best) return best;
  const std::vector<std::uint32_t> order =
      distinct_templates(compiled, [&](const SimpleProgram& program) { return program.*bound; });
  std::atomic<bool> too_much{false};
  parallel_for(context.options->threads, order.size(), [&](std::size_t i) {
    const CompiledTemplate& own = compiled[order[i]];
    if (too_much || is_cancelled(context.cancel) || !own.program.feasible ||
        own.program.*bound >= best)
      return;
    const std::optional<double> found = own.program.monotone ? least(order[i], best) : std::nullopt;
    if (found)
      lower_to(best, *found);
    else
      too_much = true;
  });
  return too_much || is_cancelled(context.cancel) ? loose : best.load();
}

}  // namespace

EnergyLatency least_cost(const TileSearchContext& searched, const std::vector<Template>& templates,
                         const std::vector<CompiledTemplate>& compiled, EnergyLatency known,
                         EnergyLatency loose) {
  TileSearchContext context = searched;
  context.any_exchange = true;
  context.bound = {.active = true, .objective = Objective::kLatency, .limit = known.latency};
  EnergyLatency result;
  result.latency =
      least_of_all(context, compiled, known.latency, loose.latency, &SimpleProgram::least_latency,
                   [&](std::uint32_t t, const std::atomic<double>&) {
                     return least_latency(context, templates[t], compiled[t]);
                   });
  result.latency = std::max(result.latency, std::min(loose.latency, known.latency));
  // Searched for the best whole mapping, a template is searched for all that its energy can bound.
  if (searched.met_objective != nullptr) {
    result.energy = loose.energy;
    return result;
  }
  if (const auto least = least_by_chains(context, compiled, result.latency, known.energy)) {
    result.energy = std::max(loose.energy, surely_below(*least));
    return result;
  }
  result.energy =
      least_of_all(context, compiled, known.energy, loose.energy, &SimpleProgram::least_energy,
                   [&](std::uint32_t t, const std::atomic<double>& best) {
                     return least_energy(context, compiled[t], result.latency, best);
                   });
  result.energy = std::max(result.energy, std::min(loose.energy, known.energy));
  return result;
}

}  // namespace sluice::fused
