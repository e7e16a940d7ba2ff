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
    for (const std::size_t s : spreads[group])
      if (chains.spreads()[s].energy_j < point.energy_j) {
        point.energy_j = chains.spreads()[s].energy_j;
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

ProblemChains::ProblemChains(const BoundProblem& problem, Goal goal)
    : problem_(problem),
      goal_(goal),
      traffic_(outer_traffic_bounds(problem)),
      leak_w_(leaking_power(problem)) {
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    const ComputeBound own = compute_bound(
        problem, id, Factors::kPerfect,
        outermost ? std::optional<OperandQuestion>({Factors::kPerfect, *outermost}) : std::nullopt);
    EinsumChains chains(problem, id);
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
    for (std::size_t s = 0; s < spreads.size(); ++s) by_time[spreads[s].seconds].push_back(s);
    for (auto& [seconds, same] : by_time) {
      part->spreads.push_back(std::move(same));
      part->front.push_back({seconds, 0, std::nullopt});
      part->update_group(part->front.size() - 1);
    }
    if (spreads.empty()) part->front.push_back({own.seconds, own.energy_j, std::nullopt});
    part->hull = lower_hull(part->front);
    parts_.push_back(std::move(part));
  }
  cheapest();
}

ProblemChains::~ProblemChains() = default;

double ProblemChains::value(double energy_j, double seconds) const {
  const double all_s = std::max(seconds, traffic_.memory_s);
  const double all_j = energy_j + traffic_.energy_floor_j + leak_w_ * all_s;
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
      here = std::min(here, value(before_j + slope * (traffic_.memory_s - before_s),
                                  traffic_.memory_s));
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

/// Of one Einsum: the cheapest spread, refined or not, below the limit.
ProblemChains::Next ProblemChains::next_of_one() const {
  Next next;
  const std::vector<SpreadBound>& spreads = parts_.front()->chains.spreads();
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    const double own = std::max({spreads[s].price, value(spreads[s].energy_j, spreads[s].seconds),
                                 value(parts_.front()->floor_j, spreads[s].seconds)});
    next.bound = std::min(next.bound, own);
    if (spreads[s].is_refined || !(own < next.price)) continue;
    next.price = own;
    next.spread = s;
  }
  return next;
}

bool ProblemChains::refine_one(double limit) {
  const Next next = next_of_one();
  if (!next.spread || !(next.price < limit)) return false;
  EinsumChains& chains = parts_.front()->chains;
  chains.refine(*next.spread, [&](double e, double s) { return value(e, s); }, limit);
  if (chains.spreads()[*next.spread].is_refined) untold_ = next.spread;
  if (const double bound = next_of_one().bound; bound < kUnknown) bound_ = std::max(bound_, bound);
  return true;
}

bool ProblemChains::refine(double limit) {
  if (bound_ >= limit) return false;
  if (parts_.size() == 1 && parts_.front()->count == 1) return refine_one(limit);
  bool is_better = false;
  for (const Choice& choice : cheapest()) {
    EinsumChains& chains = choice.part->chains;
    if (!choice.point.spread || chains.spreads()[*choice.point.spread].is_refined) continue;
    chains.refine(*choice.point.spread, [](double e, double) { return e; }, kUnknown);
    choice.part->update(choice.point.seconds);
    is_better = true;
  }
  cheapest();
  return is_better;
}

std::optional<Chain> ProblemChains::next_chain() {
  if (!untold_) return std::nullopt;
  const std::size_t spread = *std::exchange(untold_, std::nullopt);
  return parts_.front()->chains.chain_of(spread);
}

}  // namespace sluice
