#include "sluice/model/problem_chains.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "model/bind/compute_bound.h"
#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// Of one Einsum: the least energy where it takes so long.
struct FrontPoint {
  double seconds = 0, energy_j = 0;
  std::optional<std::size_t> spread;  ///< that is so cheap
};

/// The lower left part of their convex hull, from the shortest time on.
std::vector<FrontPoint> lower_hull(const std::vector<FrontPoint>& points) {
  std::vector<FrontPoint> hull;
  for (const FrontPoint& point : points) {
    if (!(point.energy_j < (hull.empty() ? kUnknown : hull.back().energy_j))) continue;
    while (hull.size() > 1) {
      const FrontPoint &a = hull[hull.size() - 2], &b = hull.back();
      if ((b.energy_j - a.energy_j) * (point.seconds - a.seconds) <
          (point.energy_j - a.energy_j) * (b.seconds - a.seconds))
        break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

}  // namespace

/// An Einsum, and how often one like it runs.
struct ProblemChains::Part {
  double count = 1;
  double floor_j = 0;  ///< of its energy, however it is spread
  EinsumChains chains;
  std::vector<std::vector<std::size_t>> spreads;  ///< of the same time each, ascending
  std::vector<FrontPoint> front;                  ///< one for each of these
  std::vector<FrontPoint> hull;

  void update(double seconds) {
    for (std::size_t group = 0; group < front.size(); ++group)
      if (front[group].seconds == seconds) update_group(group);
    hull = lower_hull(front);
  }

  void update_group(std::size_t group) {
    FrontPoint& point = front[group];
    point.energy_j = kUnknown;
    for (const std::size_t s : spreads[group]) {
      // Beside others, the price is the energy.
      const SpreadBound& bound = chains.spreads()[s];
      const double own_j = std::max(bound.energy_j, bound.price);
      if (!(own_j < point.energy_j)) continue;
      point.energy_j = own_j;
      point.spread = s;
    }
    point.energy_j = std::max(point.energy_j, floor_j);
  }
};

/// A point of a part's hull that the cheapest mix of all uses.
struct ProblemChains::Choice {
  Part* part = nullptr;
  FrontPoint point;
};

ProblemChains::ProblemChains(const BoundProblem& problem, Goal goal, Counted counted,
                             const std::atomic<bool>* cancel)
    : problem_(problem),
      goal_(goal),
      traffic_(outer_traffic_bounds(problem)),
      leak_w_(leaking_power(problem)) {
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  std::vector<EinsumId> in_part;  // Einsums that leave the compulsory traffic out
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    if (cancel != nullptr && *cancel) {
      parts_.clear();
      return;
    }
    const EinsumId id(e);
    const ComputeBound own = compute_bound(
        problem, id, Factors::kPerfect,
        outermost ? std::optional<OperandQuestion>({Factors::kPerfect, *outermost}) : std::nullopt);
    EinsumChains chains(problem, id, counted);
    if (counted == Counted::kWhole && !chains.know_all()) chains = EinsumChains(problem, id);
    const bool is_whole = counted == Counted::kWhole && chains.know_all();
    if (!is_whole) in_part.push_back(id);
    const auto equal = std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) {
      return part->floor_j == own.energy_j && part->chains.equals(chains);
    });
    if (equal != parts_.end()) {
      (*equal)->count += 1;
      continue;
    }
    auto part = std::make_unique<Part>(Part{1, own.energy_j, std::move(chains), {}, {}, {}});
    const std::vector<SpreadBound>& spreads = part->chains.spreads();
    std::map<double, std::vector<std::size_t>> by_time;
    for (std::size_t s = 0; s < spreads.size(); ++s)
      by_time[std::max(spreads[s].seconds, own.with_operands_s)].push_back(s);
    for (auto& [seconds, same] : by_time) {
      part->spreads.push_back(std::move(same));
      part->front.push_back({seconds, 0, std::nullopt});
      part->update_group(part->front.size() - 1);
    }
    if (spreads.empty()) part->front.push_back({own.with_operands_s, own.energy_j, std::nullopt});
    part->hull = lower_hull(part->front);
    parts_.push_back(std::move(part));
  }
  traffic_j_ = outer_traffic_bounds(problem, in_part).energy_floor_j;
  cheapest();
}

ProblemChains::~ProblemChains() = default;

double ProblemChains::value(double energy_j, double seconds) const {
  const double all_s = std::max(seconds, traffic_.memory_s);
  const double all_j = energy_j + traffic_j_ + leak_w_ * all_s;
  return goal_ == Goal::kEnergy ? all_j : all_j * all_s;
}

/// The hull of all parts together goes through the edges of theirs, the steepest first. Along an
/// edge the objective has no minimum but at its ends, and where memory takes as long as compute.
std::vector<ProblemChains::Choice> ProblemChains::cheapest() {
  struct Edge {
    Part* part;
    std::size_t end;  ///< index into its hull
    double slope;
  };
  std::vector<Edge> edges;
  double seconds = 0, energy_j = 0;
  for (const auto& part : parts_) {
    if (part->hull.empty()) return {};  // nothing fits: another's part to say
    seconds += part->count * part->hull.front().seconds;
    energy_j += part->count * part->hull.front().energy_j;
    for (std::size_t i = 1; i < part->hull.size(); ++i) {
      const FrontPoint &a = part->hull[i - 1], &b = part->hull[i];
      edges.push_back({part.get(), i, (b.energy_j - a.energy_j) / (b.seconds - a.seconds)});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.slope < b.slope; });
  double least = value(energy_j, seconds);
  std::size_t n_taken = 0;  // edges
  for (std::size_t n = 0; n < edges.size(); ++n) {
    const auto& [part, end, slope] = edges[n];
    const double before_s = seconds, before_j = energy_j;
    seconds += part->count * (part->hull[end].seconds - part->hull[end - 1].seconds);
    energy_j += part->count * (part->hull[end].energy_j - part->hull[end - 1].energy_j);
    double here = value(energy_j, seconds);
    if (before_s < traffic_.memory_s && traffic_.memory_s < seconds)
      here = std::min(here,
                      value(before_j + slope * (traffic_.memory_s - before_s), traffic_.memory_s));
    if (!(here < least)) continue;
    least = here;
    n_taken = n + 1;
  }
  bound_ = std::max(bound_, least);
  std::vector<Choice> choices;
  for (const auto& part : parts_) choices.push_back({part.get(), part->hull.front()});
  for (std::size_t n = 0; n < n_taken; ++n)
    for (Choice& choice : choices)
      if (choice.part == edges[n].part) choice.point = choice.part->hull[edges[n].end];
  return choices;
}

/// Of one Einsum that is spread in this way, at least.
double ProblemChains::price_of_one(std::size_t spread) const {
  const SpreadBound& bound = parts_.front()->chains.spreads()[spread];
  return std::max({bound.price, value(bound.energy_j, bound.seconds),
                   value(parts_.front()->floor_j, bound.seconds)});
}

/// The cheapest ones at once.
bool ProblemChains::refine_one(double limit, const Parallel& parallel,
                               const std::atomic<bool>* cancel) {
  constexpr std::size_t kAtOnce = 4;
  EinsumChains& chains = parts_.front()->chains;
  std::vector<std::pair<double, std::size_t>> open;
  for (std::size_t s = 0; s < chains.spreads().size(); ++s)
    if (const double own = price_of_one(s); !chains.spreads()[s].is_refined && own < limit)
      open.emplace_back(own, s);
  if (open.empty()) return false;
  const auto end = open.begin() + static_cast<std::ptrdiff_t>(std::min(kAtOnce, open.size()));
  std::partial_sort(open.begin(), end, open.end());
  open.erase(end, open.end());
  parallel(open.size(), [&](std::size_t i) {
    chains.refine(
        open[i].second, [&](double e, double s) { return value(e, s); }, limit, cancel);
  });
  for (std::size_t i = open.size(); i-- > 0;)
    if (chains.spreads()[open[i].second].is_refined) untold_.push_back(open[i].second);
  double bound = kUnknown;
  for (std::size_t s = 0; s < chains.spreads().size(); ++s)
    bound = std::min(bound, price_of_one(s));
  if (bound < kUnknown) bound_ = std::max(bound_, bound);
  return true;
}

bool ProblemChains::refine(double limit, const Parallel& parallel,
                           const std::atomic<bool>* cancel) {
  if (bound_ >= limit || parts_.empty()) return false;
  if (parts_.size() == 1 && parts_.front()->count == 1) return refine_one(limit, parallel, cancel);
  std::vector<Choice> open;
  for (const Choice& choice : cheapest())
    if (choice.point.spread && !choice.part->chains.spreads()[*choice.point.spread].is_refined)
      open.push_back(choice);
  parallel(open.size(), [&](std::size_t i) {
    open[i].part->chains.refine(
        *open[i].point.spread, [](double e, double) { return e; }, kUnknown, cancel);
  });
  for (const Choice& choice : open) choice.part->update(choice.point.seconds);
  cheapest();
  return !open.empty();
}

double ProblemChains::n_states() const {
  double n = 0;
  for (const auto& part : parts_) n += part->chains.n_states();
  return n;
}

std::optional<Chain> ProblemChains::next_chain() {
  while (!untold_.empty()) {
    const std::size_t spread = untold_.back();
    untold_.pop_back();
    if (auto chain = parts_.front()->chains.chain_of(spread)) return chain;
  }
  return std::nullopt;
}

}  // namespace sluice
