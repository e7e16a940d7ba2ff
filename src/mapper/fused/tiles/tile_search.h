#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "fused_numbers.h"
#include "hull.h"
#include "mapper/common/rounding.h"
#include "mapper/fused/exchange/exchange_space.h"
#include "mapper/fused/price/cost_program.h"
#include "mapper/fused/price/simple_program.h"
#include "mapper/space/pmapping.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::fused {

/// A test that a pmapping can still be part of a mapping that beats a known one.
struct SearchBound {
  bool active = false;
  Objective objective = Objective::kEdp;
  LowerHull others{{0, 0}};  ///< what the rest of the mapping costs at least
  EnergyLatency own{0, 0};   ///< what the part itself costs at least, whatever is chosen in it
  double limit = 0;          ///< objective of the known mapping, with a margin

  /// Least objective of a whole mapping with a part of this energy (J) and latency (s): objectives
  /// are quasi-concave, so that their least value lies at a corner.
  double value(double energy, double latency) const {
    double least = std::numeric_limits<double>::infinity();
    energy = std::max(energy, own.energy);
    latency = std::max(latency, own.latency);
    for (const EnergyLatency& other : others)
      least = std::min(least,
                       objective_value(objective, energy + other.energy, latency + other.latency));
    return least;
  }

  /// The objective of a mapping that is known now.
  void tighten(double known) {
    if (!std::isfinite(known) || (active && limit <= known * kAboveRounding)) return;
    active = true;
    limit = known * kAboveRounding;
  }

  bool hopeless(double energy, double latency) const {
    return active && value(energy, latency) > limit;
  }
};

struct CompiledTemplate;
struct LoopStarts;
class PlacementUsages;

/// What all other Einsums cost at least, by how this one exchanges tensors with them.
struct ExchangeBounds {
  const std::vector<std::vector<std::uint32_t>>* group_of_row;  ///< per skeleton and row
  std::vector<LowerHull> others;  ///< per group; empty: none of its rows is worth pricing
};

struct TileSearchContext {
  const BoundProblem* problem;
  /// With what constraints ask for, where chains (EinsumChains) know all mappings; else none.
  const BoundProblem* chained = nullptr;
  const EinsumShape* shape;
  const MapperOptions* options;
  const Constraints* constraints;
  const std::vector<TrackedMemory>* tracked;
  const std::vector<bool>* unlimited;
  SearchBound bound;
  const Incumbent* incumbent = nullptr;  ///< tightens the bound while the search runs
  /// The same, from this search itself, where it has one Einsum: its pmappings are whole mappings.
  std::atomic<double>* met_objective = nullptr;
  const std::vector<LoopStarts>* starts = nullptr;  ///< then: find_starts() of every template
  const std::atomic<bool>* cancel = nullptr;
  const ExchangeSpace* space = nullptr;
  const ExchangeBounds* exchange_bounds = nullptr;          ///< none: `bound` holds for all rows
  const std::vector<Template>* templates = nullptr;         ///< of the Einsum
  const std::vector<CompiledTemplate>* compiled = nullptr;  ///< of the Einsum
  /// > 0: a scout that keeps so many partial assignments (not exact)
  std::size_t beam = 0;
  /// Choices of fused loops and uses of fanouts are not told apart: for bounds.
  bool any_exchange = false;
};

/// A template with its tile-shape choices tabulated; made once, searched as scout and in earnest.
struct CompiledTemplate {
  std::vector<VariableClass> classes;
  std::vector<std::shared_ptr<StateTable>> tables;  ///< per class
  SimpleProgram program;
  std::vector<ClassFusedNumbers> fused;
  double considered = 0;                    ///< number of tile-shape choices
  std::shared_ptr<PlacementUsages> usages;  ///< of all templates of its placement
  bool repeats = false;                     ///< equal states of one before it cost the same
};
/// Safe to call from several threads.
CompiledTemplate compile_template(const TileSearchContext& context, const Template& templ,
                                  StateTables* tables);
/// Numbers the columns of an Einsum's templates, once all are compiled.
void number_columns(const std::vector<CompiledTemplate>& compiled);

/// Once columns are numbered.
void mark_repeats(std::vector<CompiledTemplate>* compiled, int threads,
                  const std::atomic<bool>* cancel);

/// The templates of an Einsum that cost something of their own, as numbers in `compiled`, those
/// with the lowest `bound` first; no repeats.
std::vector<std::uint32_t> distinct_templates(
    const std::vector<CompiledTemplate>& compiled,
    const std::function<double(const SimpleProgram&)>& bound);

/// The pmappings of one template for one exchange, pruned.
struct PricedExchange {
  std::uint32_t row = 0;     ///< of the template's skeleton
  std::uint32_t count = 0;   ///< pmappings
  std::uint32_t levels = 0;  ///< fused loops with more than one trip, plus one
  std::size_t values = 0;    ///< where its numbers begin (PmappingGroup::values)
  std::size_t states = 0;    ///< where its states begin, one per class and pmapping
};

struct TemplateResult {
  std::vector<PricedExchange> exchanges;
  std::vector<double> values;
  std::vector<std::uint32_t> states;
  double considered = 0;
  double evaluated = 0;
  ClosestMiss miss;
};

TemplateResult search_tile_shapes(const TileSearchContext& context, const Template& templ,
                                  const CompiledTemplate& compiled, std::uint32_t template_index);

/// What the search of a template begins with where its pmappings are whole mappings; elsewhere no
/// more than the bound. None where the search was cancelled.
std::optional<LoopStarts> find_starts(const TileSearchContext& context, const Template& templ,
                                      const CompiledTemplate& compiled,
                                      std::uint32_t template_index);

/// The trip counts of a pmapping, per loop place of its template.
std::vector<std::int64_t> loop_trips(const EinsumShape& shape, const Template& templ,
                                     const CompiledTemplate& compiled, const std::uint32_t* states);

}  // namespace sluice::fused
