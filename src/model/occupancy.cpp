#include "model/occupancy.h"

#include <algorithm>
#include <string>

#include "model/finish_nests.h"
#include "model/reservations.h"

namespace sluice {
namespace {

struct Excess {
  double bits = 0;
  std::size_t nest = 0;
};

/// The tile that an entry of the tree reserves, as ` [4×8]`; a value without ranks has none.
std::string tile_text(const BoundProblem& problem, const FlatTree& tree, std::uint32_t entry) {
  std::string text;
  std::int64_t largest = 0;
  for (const Nest& nest : tree.nests) {
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
      const NestStorage& storage = tree.storages[s];
      if (storage.entry != entry) continue;
      for (const BoundAccess& access : problem[nest.einsum].held) {
        const std::int64_t* tiles = tree.tiles_at(storage);
        if (access.tensor != storage.tensor || tile_volume(access, tiles) <= largest) continue;
        largest = tile_volume(access, tiles);
        text.clear();
        for (const BoundIndex& index : access.index)
          text += (text.empty() ? " [" : "×") +
                  with_thousands(static_cast<double>(tile_extent(index, tiles)));
        if (!text.empty()) text += "]";
      }
    }
  }
  return text;
}

void report_excess(const BoundProblem& problem, const FlatTree& tree, Reservations& analysis,
                   std::size_t component, const Excess& excess, ViolationReport& report) {
  const Nest& nest = tree.nests[excess.nest];
  const double capacity = problem[nest.einsum].components[component].size_bits;
  std::vector<std::pair<double, std::uint32_t>> held;
  for (std::uint32_t index : analysis.live_at(excess.nest))
    if (analysis.entry_of(index).component.index() == component)
      held.emplace_back(analysis.bits(index), index);
  std::stable_sort(held.begin(), held.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string parts;
  for (const auto& [bits, index] : held)
    parts += (parts.empty() ? "" : ", ") + report.name(analysis.entry_of(index).tensor) + " " +
             with_thousands(bits) + tile_text(problem, tree, analysis.entries_of(index).front());
  Violation& violation =
      report.add(ViolationKind::kCapacity, nest.node,
                 report.name(ComponentId(component)) + " holds " + with_thousands(capacity) +
                     " bits; the Einsum " + report.name(nest.einsum) + " needs " +
                     with_thousands(capacity + excess.bits) + " (" + parts + "), " +
                     with_thousands(excess.bits) + " too many.",
                 nest.einsum);
  violation.component = ComponentId(component);
  violation.excess_bits = excess.bits;
  for (const auto& [bits, index] : held)
    violation.tensors.push_back(analysis.entry_of(index).tensor);
}

}  // namespace

Occupancy check_capacities(const BoundProblem& problem, const FlatTree& tree,
                           ViolationReport& report) {
  const std::size_t n_components = problem.arch.components.size();
  Occupancy occupancy{std::vector<double>(n_components, 0), std::vector<double>(n_components, 0)};
  std::vector<Excess> excess(n_components);
  std::vector<double> live_bits(n_components);
  Reservations analysis(problem, tree);
  for (std::size_t n = 0; n < tree.nests.size(); ++n) {
    std::fill(live_bits.begin(), live_bits.end(), 0.0);
    for (std::uint32_t index : analysis.live_at(n))
      live_bits[analysis.entry_of(index).component.index()] += analysis.bits(index);
    const BoundEinsum& einsum = problem[tree.nests[n].einsum];
    for (std::size_t c = 0; c < n_components; ++c) {
      if (!problem.arch.components[c].is_memory()) continue;
      const double capacity = einsum.components[c].size_bits;
      if (live_bits[c] > occupancy.peak_bits[c]) {
        occupancy.peak_bits[c] = live_bits[c];
        occupancy.capacity_bits[c] = capacity;
      } else if (occupancy.peak_bits[c] == 0) {
        occupancy.capacity_bits[c] = std::max(occupancy.capacity_bits[c], capacity);
      }
      if (live_bits[c] - capacity > excess[c].bits) excess[c] = {live_bits[c] - capacity, n};
    }
  }
  for (std::size_t c = 0; c < n_components; ++c)
    if (excess[c].bits > 0) report_excess(problem, tree, analysis, c, excess[c], report);
  return occupancy;
}

}  // namespace sluice
