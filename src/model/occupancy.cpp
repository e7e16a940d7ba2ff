#include "model/occupancy.h"

#include <algorithm>
#include <optional>
#include <string>

#include "model/finish_nests.h"
#include "model/held_boxes.h"
#include "model/reservations.h"

namespace sluice {
namespace {

struct Excess {
  double bits = 0;
  std::size_t nest = 0;
  Moment moment;
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

namespace {

/// Compares what is alive with the capacities, nest by nest.
class CapacityCheck {
 public:
  CapacityCheck(const BoundProblem& problem, const FlatTree& tree)
      : problem_(problem),
        tree_(tree),
        analysis_(problem, tree),
        n_components_(problem.arch.components.size()),
        excess_(n_components_),
        live_bits_(n_components_),
        occupancy_{std::vector<double>(n_components_, 0), std::vector<double>(n_components_, 0)} {}

  /// What nest `n` needs with the bits that the tree's entries have now.
  void add(std::size_t n, const Moment& moment) {
    std::fill(live_bits_.begin(), live_bits_.end(), 0.0);
    for (std::uint32_t index : analysis_.live_at(n))
      live_bits_[analysis_.entry_of(index).component.index()] += analysis_.bits(index);
    const BoundEinsum& einsum = problem_[tree_.nests[n].einsum];
    for (std::size_t c = 0; c < n_components_; ++c) {
      if (!problem_.arch.components[c].is_memory()) continue;
      const double capacity = einsum.components[c].size_bits;
      if (live_bits_[c] > occupancy_.peak_bits[c]) {
        occupancy_.peak_bits[c] = live_bits_[c];
        occupancy_.capacity_bits[c] = capacity;
      } else if (occupancy_.peak_bits[c] == 0) {
        occupancy_.capacity_bits[c] = std::max(occupancy_.capacity_bits[c], capacity);
      }
      if (live_bits_[c] - capacity > excess_[c].bits)
        excess_[c] = {live_bits_[c] - capacity, n, moment};
    }
  }

  void report(HeldBoxes* boxes, ViolationReport& report) {
    for (std::size_t c = 0; c < n_components_; ++c) {
      if (excess_[c].bits <= 0) continue;
      if (boxes) boxes->hold(excess_[c].moment);
      report_excess(problem_, tree_, analysis_, c, excess_[c], report);
    }
  }

  Occupancy take() { return std::move(occupancy_); }

 private:
  const BoundProblem& problem_;
  const FlatTree& tree_;
  Reservations analysis_;
  std::size_t n_components_;
  std::vector<Excess> excess_;
  std::vector<double> live_bits_;
  Occupancy occupancy_;
};

}  // namespace

Occupancy check_capacities(const BoundProblem& problem, FlatTree& tree, ViolationReport& report) {
  CapacityCheck check(problem, tree);
  std::optional<HeldBoxes> boxes;
  if (problem.holds_unlike_boxes) boxes.emplace(problem, tree);
  for (std::size_t n = 0; n < tree.nests.size(); ++n) {
    if (boxes)
      boxes->for_each_moment(n, [&](const Moment& moment) { check.add(n, moment); });
    else
      check.add(n, {});
  }
  check.report(boxes ? &*boxes : nullptr, report);
  return check.take();
}

}  // namespace sluice
