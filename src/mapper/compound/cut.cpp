#include "cut.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "mapper/common/dominance.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::compound {
namespace {

/// What must not be larger for one beginning of a mapping to replace another.
std::vector<double> criteria(const PartCost& cost, const MapperOptions& options) {
  const bool single = options.objectives.size() == 1;
  if (single && options.objectives[0] == Objective::kLatency && options.top == 1)
    return {cost.policy_s, cost.overlap_s};
  return {cost.energy_j, cost.policy_s, cost.overlap_s};
}

/// Of those that are equal in all criteria the one with less energy, then less latency.
bool replaces(const CutMapping& a, const CutMapping& b, const MapperOptions& options) {
  const std::vector<double> own = criteria(a.cost, options), other = criteria(b.cost, options);
  if (!dominates(own, other)) return false;
  return own != other || std::tuple(a.cost.total_j(), a.cost.latency_s()) <=
                             std::tuple(b.cost.total_j(), b.cost.latency_s());
}

void add(std::vector<CutMapping>* front, CutMapping next, const MapperOptions& options) {
  for (const CutMapping& known : *front)
    if (replaces(known, next, options)) return;
  std::erase_if(*front, [&](const CutMapping& known) { return replaces(next, known, options); });
  front->push_back(std::move(next));
}

/// Σ over the groups of the cheapest way to cover the Einsums before each one, and from it on.
struct Cover {
  std::vector<double> before, from;
};

Cover cheapest_cover(const std::vector<SearchedGroup>& groups, const std::vector<double>& price,
                     std::size_t n_einsums) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Cover cover{std::vector<double>(n_einsums + 1, kNone), std::vector<double>(n_einsums + 1, kNone)};
  cover.before[0] = cover.from[n_einsums] = 0;
  for (std::size_t at = 1; at <= n_einsums; ++at)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Group& group = groups[g].group;
      if (group.end == at)
        cover.before[at] = std::min(cover.before[at], cover.before[group.first] + price[g]);
    }
  for (std::size_t at = n_einsums; at-- > 0;)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Group& group = groups[g].group;
      if (group.first == at)
        cover.from[at] = std::min(cover.from[at], cover.from[group.end] + price[g]);
    }
  return cover;
}

}  // namespace

std::vector<double> bounds_with(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
                                const MapperOptions& options, Effort effort) {
  std::vector<double> energy, policy, overlap, result;
  for (const SearchedGroup& searched : groups) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const bool is_known = searched.searched == effort;
    energy.push_back(is_known ? kNone : searched.bounds.energy_floor_j);
    policy.push_back(is_known ? kNone : 0);
    overlap.push_back(is_known ? kNone
                               : std::max(searched.bounds.compute_s, searched.bounds.memory_s));
    if (!is_known) continue;
    for (const GroupMapping& found : searched.result.front) {
      energy.back() = std::min(energy.back(), found.cost.energy_j);
      policy.back() = std::min(policy.back(), found.cost.policy_s);
      overlap.back() = std::min(overlap.back(), found.cost.overlap_s);
    }
  }
  const Cover energies = cheapest_cover(groups, energy, n_einsums);
  const Cover policies = cheapest_cover(groups, policy, n_einsums);
  const Cover overlaps = cheapest_cover(groups, overlap, n_einsums);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto with = [&](const Cover& cover, const std::vector<double>& own) {
      return cover.before[groups[g].group.first] + own[g] + cover.from[groups[g].group.end];
    };
    result.push_back(objective_value(options.objectives.front(), with(energies, energy),
                                     std::max(with(policies, policy), with(overlaps, overlap))));
  }
  return result;
}

std::vector<CutMapping> best_cuts(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
                                  const MapperOptions& options) {
  std::vector<std::vector<CutMapping>> fronts(n_einsums + 1);
  fronts[0].emplace_back();
  for (std::size_t end = 1; end <= n_einsums; ++end)
    for (const SearchedGroup& searched : groups) {
      if (searched.group.end != end) continue;
      for (const CutMapping& before : fronts[searched.group.first])
        for (const GroupMapping& part : searched.result.front) {
          CutMapping longer = before;
          longer.cost = before.groups.empty() ? part.cost : before.cost + part.cost;
          longer.groups.push_back(&searched);
          longer.parts.push_back(&part);
          add(&fronts[end], std::move(longer), options);
        }
    }
  std::vector<CutMapping> all = std::move(fronts[n_einsums]);
  std::stable_sort(all.begin(), all.end(), [&](const CutMapping& a, const CutMapping& b) {
    const auto key = [&](const CutMapping& m) {
      const double energy = m.cost.total_j(), latency = m.cost.latency_s();
      return std::tuple(objective_value(options.objectives.front(), energy, latency), energy,
                        latency);
    };
    return key(a) < key(b);
  });
  return all;
}

}  // namespace sluice::compound
