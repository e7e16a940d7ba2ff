#include "row_bounds.h"

#include <algorithm>
#include <map>

namespace sluice::fused {
namespace {

/// Calls `body(row, numbers, bound)` for the `wanted` rows of its skeleton that a template may have
/// tile shapes for.
template <class Wanted, class Body>
void for_each_row(const TileSearchContext& context, const CompiledTemplate& compiled,
                  std::uint32_t template_index, const Wanted& wanted, const Body& body) {
  if (compiled.considered == 0 || !compiled.program.feasible) return;
  const ExchangeSpace::Skeleton& skeleton =
      context.space->skeletons[context.space->skeleton_of[template_index]];
  FusedBound bound(compiled.program);
  std::vector<std::int64_t> scratch;
  std::vector<std::uint32_t> numbers;
  for (std::size_t r = 0; r < skeleton.n_rows; ++r)
    if (wanted(r) && fused_numbers_of(compiled.fused, skeleton.row(r), &scratch, &numbers))
      body(r, numbers, &bound);
}

}  // namespace

void mark_promising(const TileSearchContext& context, const CompiledTemplate& compiled,
                    std::uint32_t template_index, std::vector<char>* possible) {
  for_each_row(
      context, compiled, template_index, [&](std::size_t r) { return (*possible)[r] == 0; },
      [&](std::size_t r, const std::vector<std::uint32_t>& numbers, FusedBound* bound) {
        if (bound->promising(numbers, context.bound)) (*possible)[r] = 1;
      });
}

std::vector<TripFilter> trip_filters(const TileSearchContext& context,
                                     const std::vector<CompiledTemplate>& compiled,
                                     const std::vector<std::uint32_t>& templates) {
  using Allowed = std::vector<char>;  // per number of fused trips
  struct Known {
    std::size_t n_templates = 0;  // that have a class of these loops
    std::map<const StateTable*, Allowed> allowed;
  };
  std::map<std::vector<std::uint32_t>, Known> by_places;
  std::size_t n_templates = 0;
  for (const std::uint32_t t : templates) {
    const CompiledTemplate& own = compiled[t];
    if (own.considered == 0 || !own.program.feasible) continue;
    ++n_templates;
    FusedBound bound(own.program);
    std::vector<std::uint32_t> numbers(own.classes.size(), FusedBound::kAny);
    for (std::size_t c = 0; c < own.fused.size(); ++c) {
      const auto& [table, positions] = own.fused[c];
      if (positions.empty() || !std::is_sorted(positions.begin(), positions.end())) continue;
      Known& known = by_places[positions];
      ++known.n_templates;
      Allowed& allowed = known.allowed[table];
      allowed.resize(table->fused_number.size(), 0);
      for (std::uint32_t number = 0; number < allowed.size(); ++number) {
        numbers[c] = number;
        if (allowed[number] == 0 && bound.promising(numbers, context.bound)) allowed[number] = 1;
      }
      numbers[c] = FusedBound::kAny;
    }
  }
  std::vector<TripFilter> filters;
  for (const auto& [places, known] : by_places) {
    if (known.n_templates < n_templates) continue;  // others may have what these have not
    std::vector<const TripFilter::Trips*> all;
    for (const auto& [table, allowed] : known.allowed)
      for (const auto& [trips, number] : table->fused_in_order)
        if (allowed[number] != 0) all.push_back(trips);
    if (known.allowed.size() > 1)
      std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return *a < *b; });
    filters.emplace_back(places, std::move(all));
  }
  return filters;
}

void bound_rows(const TileSearchContext& context, const CompiledTemplate& compiled,
                std::uint32_t template_index, std::vector<EnergyLatency>* least) {
  for_each_row(
      context, compiled, template_index, [](std::size_t) { return true; },
      [&](std::size_t r, const std::vector<std::uint32_t>& numbers, FusedBound* bound) {
        const std::optional<EnergyLatency> cost = bound->least(numbers, context.bound);
        if (!cost) return;
        (*least)[r].energy = std::min((*least)[r].energy, cost->energy);
        (*least)[r].latency = std::min((*least)[r].latency, cost->latency);
      });
}

}  // namespace sluice::fused
