#include "cut.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "sluice/mapper/objective_value.h"

namespace sluice::compound {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// The beginning of a mapping: a group's part after the beginning before it.
struct Beginning {
  PartCost cost;
  std::uint32_t before = 0;  ///< its number
  const SearchedGroup* group = nullptr;
  const GroupMapping* part = nullptr;
};

/// Whether nothing that decides is larger: one beginning can stand for another.
bool is_no_larger(const PartCost& a, const PartCost& b, bool counts_energy) {
  return a.policy_s <= b.policy_s && a.overlap_s <= b.overlap_s &&
         (!counts_energy || a.energy_j <= b.energy_j);
}

/// Of those that are equal in all that decides the one with less energy, then less latency.
bool replaces(const PartCost& a, const PartCost& b, bool counts_energy) {
  if (!is_no_larger(a, b, counts_energy)) return false;
  return !is_no_larger(b, a, counts_energy) ||
         std::tuple(a.total_j(), a.latency_s()) <= std::tuple(b.total_j(), b.latency_s());
}

/// Σ over the groups of the cheapest way to cover the Einsums before each one, and from it on.
struct Cover {
  std::vector<double> before, from;
};

Cover cheapest_cover(const std::vector<SearchedGroup>& groups, const std::vector<double>& price,
                     std::size_t n_einsums) {
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

namespace {

/// Finds the best cuts.
class Cutter {
 public:
  Cutter(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
         const MapperOptions& options, const std::atomic<bool>* cancel)
      : groups_(groups),
        n_einsums_(n_einsums),
        objective_(options.objectives.front()),
        counts_energy_(options.objectives != std::vector{Objective::kLatency} || options.top > 1),
        cancel_(cancel) {
    std::vector<double> energy, policy, overlap;
    for (const SearchedGroup& searched : groups) {
      energy.push_back(least(searched, &PartCost::energy_j));
      policy.push_back(least(searched, &PartCost::policy_s));
      overlap.push_back(least(searched, &PartCost::overlap_s));
    }
    energy_from_ = cheapest_cover(groups, energy, n_einsums).from;
    policy_from_ = cheapest_cover(groups, policy, n_einsums).from;
    overlap_from_ = cheapest_cover(groups, overlap, n_einsums).from;
  }

  /// With the most promising beginnings alone.
  std::vector<CutMapping> likely() {
    constexpr std::size_t kMost = 32;
    return walk(kMost, kNone, nullptr);
  }

  /// All that can be part of a mapping that costs no more than `limit`; nothing where there is no
  /// time for that.
  std::optional<std::vector<CutMapping>> within(double limit) {
    auto all = walk(std::numeric_limits<std::size_t>::max(), limit, cancel_);
    if (is_cancelled(cancel_)) return std::nullopt;
    return all;
  }

 private:
  static double least(const SearchedGroup& searched, double PartCost::*criterion) {
    double result = kNone;
    for (const GroupMapping& found : searched.result.front)
      result = std::min(result, found.cost.*criterion);
    return result;
  }

  /// What no mapping that begins so, up to an Einsum, is below.
  double bound(const PartCost& cost, std::size_t end) const {
    return objective_value(
        objective_, cost.energy_j + energy_from_[end],
        std::max(cost.policy_s + policy_from_[end], cost.overlap_s + overlap_from_[end]));
  }

  /// `most`: beginnings for each number of Einsums.
  std::vector<CutMapping> walk(std::size_t most, double limit, const std::atomic<bool>* cancel) {
    beginnings_.assign(1, {});
    std::vector<std::vector<std::uint32_t>> fronts(n_einsums_ + 1);
    fronts[0] = {0};
    for (std::size_t end = 1; end <= n_einsums_; ++end)
      for (const SearchedGroup& searched : groups_) {
        if (searched.group.end != end) continue;
        for (const std::uint32_t before : fronts[searched.group.first]) {
          if (is_cancelled(cancel)) return {};
          for (const GroupMapping& part : searched.result.front) {
            const PartCost cost = before == 0 ? part.cost : beginnings_[before].cost + part.cost;
            if (bound(cost, end) <= limit) add({cost, before, &searched, &part}, &fronts[end]);
          }
          if (fronts[end].size() > most) keep_best(most, end, &fronts[end]);
        }
      }
    std::vector<CutMapping> all;
    for (const std::uint32_t whole : fronts[n_einsums_]) all.push_back(mapping(whole));
    std::stable_sort(all.begin(), all.end(), [&](const CutMapping& a, const CutMapping& b) {
      return key(a.cost) < key(b.cost);
    });
    return all;
  }

  void add(const Beginning& next, std::vector<std::uint32_t>* front) {
    for (const std::uint32_t known : *front)
      if (replaces(beginnings_[known].cost, next.cost, counts_energy_)) return;
    std::erase_if(*front, [&](std::uint32_t known) {
      return replaces(next.cost, beginnings_[known].cost, counts_energy_);
    });
    front->push_back(static_cast<std::uint32_t>(beginnings_.size()));
    beginnings_.push_back(next);
  }

  void keep_best(std::size_t most, std::size_t end, std::vector<std::uint32_t>* front) const {
    std::stable_sort(front->begin(), front->end(), [&](std::uint32_t a, std::uint32_t b) {
      return bound(beginnings_[a].cost, end) < bound(beginnings_[b].cost, end);
    });
    front->resize(most);
  }

  CutMapping mapping(std::uint32_t whole) const {
    CutMapping result;
    result.cost = beginnings_[whole].cost;
    for (std::uint32_t b = whole; b != 0; b = beginnings_[b].before) {
      result.groups.push_back(beginnings_[b].group);
      result.parts.push_back(beginnings_[b].part);
    }
    std::reverse(result.groups.begin(), result.groups.end());
    std::reverse(result.parts.begin(), result.parts.end());
    return result;
  }

  std::tuple<double, double, double> key(const PartCost& cost) const {
    const double energy = cost.total_j(), latency = cost.latency_s();
    return {objective_value(objective_, energy, latency), energy, latency};
  }

  const std::vector<SearchedGroup>& groups_;
  const std::size_t n_einsums_;
  const Objective objective_;
  const bool counts_energy_;
  const std::atomic<bool>* cancel_;
  std::vector<double> energy_from_, policy_from_, overlap_from_;  ///< of what is left, at least
  std::vector<Beginning> beginnings_;                             ///< the empty one first
};

}  // namespace

std::vector<CutMapping> best_cuts(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
                                  const MapperOptions& options, const std::atomic<bool>* cancel) {
  constexpr double kSlack = 1.1;  // the best one may be illegal as a whole
  Cutter cutter(groups, n_einsums, options, cancel);
  std::vector<CutMapping> likely = cutter.likely();
  const bool is_one = options.objectives.size() == 1 && options.top == 1;
  const double limit = is_one && !likely.empty()
                           ? kSlack * likely.front().cost.objective(options.objectives.front())
                           : kNone;
  if (auto all = cutter.within(limit)) return *std::move(all);
  return likely;
}

}  // namespace sluice::compound
