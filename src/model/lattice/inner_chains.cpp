#include "sluice/model/inner_chains.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "cheapest_open.h"

namespace sluice {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::infinity();

/// A share of the energy that the memories down to the cut cost, and earlier rounds with a smaller
/// and a larger one: the least of all chains is a concave function of it.
struct Round {
  double share = 1;
  int smaller = -1, larger = -1;
};
constexpr std::array<Round, 5> kRounds = {{{1}, {0}, {0.2, 1, 0}, {0.5, 2, 0}, {0.05, 1, 2}}};

}  // namespace

/// Of equal Einsums.
struct InnerChains::Part {
  Part(EinsumId id, ComponentId own_cut, EinsumChains chains)
      : einsum(id), cut(own_cut), whole(std::move(chains)) {
    add_spreads();
  }

  std::size_t n_rounds() const { return least_j.size(); }  ///< that have begun

  void begin_round(const BoundProblem& problem, std::size_t most_spreads) {
    const double share = kRounds[n_rounds()].share;
    if (share < 1) {
      discounted.emplace(problem, einsum, Counted::kWhole, EinsumChains::Discount{cut, share},
                         most_spreads);
      for (const std::size_t group : split_groups) discounted->split(group);
    }
    least_j.emplace_back(seconds.size(), 0);
    for (std::size_t s = 0; s < seconds.size(); ++s) raise(s);
  }
  /// Of the last round that has begun.
  EinsumChains& chains() { return n_rounds() == 1 ? whole : *discounted; }

  /// To what is known of a spread in this round, and in others.
  void raise(std::size_t s) {
    const Round& round = kRounds[n_rounds() - 1];
    const SpreadBound& bound = chains().spreads()[s];
    double& least = least_j.back()[s];
    least = std::max({least, bound.energy_j, bound.price});
    if (round.smaller < 0) return;
    const auto a = static_cast<std::size_t>(round.smaller);
    const auto b = static_cast<std::size_t>(round.larger);
    const double part = (round.share - kRounds[a].share) / (kRounds[b].share - kRounds[a].share);
    least = std::max(least, (1 - part) * least_j[a][s] + part * least_j[b][s]);
  }

  /// Those that the list has more than is known here.
  void add_spreads() {
    const EinsumChains& from = discounted ? *discounted : whole;
    for (std::size_t s = seconds.size(); s < from.spreads().size(); ++s) {
      seconds.push_back(from.spreads()[s].seconds);
      inner_seconds.push_back(seconds.back() * from.instances_of(s, cut));
    }
  }

  /// What was known of the group in earlier rounds is known of its parts.
  void split(std::size_t group) {
    const std::size_t first = seconds.size();
    chains().split(group);
    split_groups.push_back(group);
    add_spreads();
    for (std::vector<double>& least : least_j) {
      least.resize(seconds.size(), least[group]);
      least[group] = kNotKnown;
    }
    seconds[group] = inner_seconds[group] = kNotKnown;
    for (std::size_t s = first; s < seconds.size(); ++s) raise(s);
  }

  /// Some of the cheapest spreads; false where the cheapest one is known, or nearly so, or is in a
  /// group that stays as it is.
  bool refine(double j_per_s, const std::atomic<bool>* cancel) {
    constexpr std::size_t kAtOnce = 4;
    constexpr double kNearly = 0.997, kAboveRounding = 1 + 1e-9;
    const auto price = [&](std::size_t s) { return least_j.back()[s] + j_per_s * seconds[s]; };
    double best = cheapest_refined(chains(), price);
    const std::vector<std::size_t> some =
        cheapest_open(chains(), kAtOnce, kNearly * best, price, [&](std::size_t group) {
          if (!chains().may_split() || (cancel != nullptr && *cancel)) return false;
          split(group);
          return true;
        });
    for (const std::size_t s : some) {
      // What is above the best by bounds that are sooner found, needs no better ones.
      const double limit = kAboveRounding * best - j_per_s * seconds[s];
      chains().refine(
          s, [](double energy_j, double) { return energy_j; }, limit, cancel,
          EinsumChains::Beyond::kKnown);
      raise(s);
      if (chains().spreads()[s].is_refined) best = std::min(best, price(s));
    }
    return !some.empty();
  }

  /// Spreads that take about as long together; what is no faster and no cheaper is left out.
  std::vector<InnerWay> ways() const {
    constexpr std::array<double, 5> kSlower = {1, 1.1, 1.5, 2.5, 6};
    constexpr double kNoCheaper = 0.995;
    if (least_j.empty()) return {};
    const double fastest = *std::min_element(inner_seconds.begin(), inner_seconds.end());
    std::vector<InnerWay> all(kSlower.size());
    for (InnerWay& way : all) {
      way.seconds = kNotKnown;
      for (std::size_t r = 0; r < n_rounds(); ++r)
        way.cuts.push_back({kNotKnown, 1 - kRounds[r].share});
    }
    for (std::size_t s = 0; s < seconds.size(); ++s) {
      std::size_t w = kSlower.size() - 1;
      while (inner_seconds[s] < kSlower[w] * fastest) --w;
      all[w].seconds = std::min(all[w].seconds, inner_seconds[s]);
      for (std::size_t r = 0; r < n_rounds(); ++r)
        all[w].cuts[r].constant_j = std::min(all[w].cuts[r].constant_j, least_j[r][s]);
    }
    std::vector<InnerWay> ways;
    for (InnerWay& way : all) {
      const bool fits = std::all_of(way.cuts.begin(), way.cuts.end(), [](const EnergyCut& cut) {
        return cut.constant_j < kNotKnown;
      });
      if (way.seconds == kNotKnown || !fits) continue;
      bool is_cheaper = ways.empty();
      for (std::size_t r = 0; r < n_rounds() && !is_cheaper; ++r)
        is_cheaper = way.cuts[r].constant_j < kNoCheaper * ways.back().cuts[r].constant_j;
      for (std::size_t r = 0; r < n_rounds() && !ways.empty(); ++r) {
        double& least = (is_cheaper ? way : ways.back()).cuts[r].constant_j;
        least = std::min(ways.back().cuts[r].constant_j, way.cuts[r].constant_j);
      }
      if (is_cheaper) ways.push_back(std::move(way));
    }
    return ways;
  }

  EinsumId einsum;
  ComponentId cut;
  EinsumChains whole;                        ///< of the first round
  std::optional<EinsumChains> discounted;    ///< of the last one that has begun
  std::vector<std::size_t> split_groups;     ///< in any round, in their order
  std::vector<double> seconds;               ///< per spread
  std::vector<double> inner_seconds;         ///< the same, on one instance of the cut
  std::vector<std::vector<double>> least_j;  ///< per round and spread: nothing costs less
};

InnerChains::InnerChains(const BoundProblem& problem, ComponentId cut, double j_per_s,
                         const std::atomic<bool>* cancel, std::size_t most_spreads)
    : problem_(problem), cut_(cut), j_per_s_(j_per_s), most_spreads_(most_spreads) {
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    const bool is_over = cancel != nullptr && *cancel;
    part_of_.push_back(std::numeric_limits<std::size_t>::max());
    if (is_over || problem.workload[id].is_copy_operation) continue;
    EinsumChains whole(problem, id, Counted::kWhole, std::nullopt, most_spreads);
    if (!whole.know_all()) continue;
    const auto equal = std::find_if(parts_.begin(), parts_.end(),
                                    [&](const auto& part) { return part->whole.equals(whole); });
    part_of_.back() = static_cast<std::size_t>(equal - parts_.begin());
    if (equal == parts_.end()) parts_.push_back(std::make_unique<Part>(id, cut, std::move(whole)));
  }
}

InnerChains::~InnerChains() = default;

/// One share after the other, each of all Einsums.
bool InnerChains::refine(const std::atomic<bool>* cancel) {
  for (; round_ < kRounds.size(); ++round_, next_part_ = 0)
    for (; next_part_ < parts_.size(); ++next_part_) {
      if (cancel != nullptr && *cancel) return false;
      Part& part = *parts_[next_part_];
      if (part.n_rounds() == round_) part.begin_round(problem_, most_spreads_);
      if (part.refine(j_per_s_, cancel)) return true;
      part.discounted.reset();  // a later round has its own
    }
  return false;
}

InnerWays InnerChains::ways() const {
  InnerWays result;
  for (const std::size_t part : part_of_)
    result.push_back(part < parts_.size() ? parts_[part]->ways() : std::vector<InnerWay>());
  return result;
}

}  // namespace sluice
