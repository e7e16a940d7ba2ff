#include "sluice/model/problem_chains.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cheapest_open.h"
#include "model/bind/compute_bound.h"
#include "model/bind/operand_costs.h"
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

/// A copy from the outermost memory to itself, which moves nothing.
std::optional<Chain> copied_outermost(const BoundProblem& problem, EinsumId id) {
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  if (!outermost) return std::nullopt;
  Chain chain;
  chain.compute = problem[id].computes.front().component;
  for (const TensorId tensor : problem[id].tensors)
    chain.steps.emplace_back(ChainNode{tensor, *outermost});
  const std::vector<VariableRange>& variables = problem.workload[id].iteration_space;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (variables[v].size > 1) chain.steps.emplace_back(ChainLoop{v, variables[v].size});
  return chain;
}

}  // namespace

bool exchange_outermost(const BoundProblem& problem) {
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  if (!outermost) return false;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const BoundEinsum& einsum = problem[EinsumId(e)];
    for (const BoundCompute& compute : einsum.computes)
      if (compute.depth[outermost->index()] < 0) return false;
    for (const TensorId tensor : einsum.tensors)
      if (!hold_of(problem, EinsumId(e), *outermost, tensor).must) return false;
  }
  return true;
}

/// An Einsum, and how often one like it runs.
struct ProblemChains::Part {
  EinsumId einsum;
  double count = 1;
  double floor_j = 0;  ///< of its energy, however it is spread
  double floor_s = 0;  ///< of its time
  EinsumChains chains;
  std::vector<FrontPoint> hull = {};

  /// What is known of each spread: its time, its energy, and the price where a second is worth
  /// `per_s` (J/s). What meets the price is as fast as the spread may be, or as cheap.
  void update(double per_s) {
    std::vector<FrontPoint> points;
    if (chains.spreads().empty()) points.push_back({floor_s, floor_j, std::nullopt});
    for (std::size_t s = 0; s < chains.spreads().size(); ++s) {
      const SpreadBound& bound = chains.spreads()[s];
      const double own_s = std::max(bound.seconds, floor_s);
      const double own_j = std::max(bound.energy_j, floor_j);
      const double fast_j = std::max(own_j, bound.price - per_s * own_s);
      points.push_back({own_s, fast_j, s});
      if (own_j < fast_j && fast_j < kUnknown && per_s > 0)
        points.push_back({(bound.price - own_j) / per_s, own_j, s});
    }
    std::stable_sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) {
      return a.seconds != b.seconds ? a.seconds < b.seconds : a.energy_j < b.energy_j;
    });
    hull = lower_hull(points);
  }

  /// As far as its price is worth knowing by bounds that are sooner found: up to that of the
  /// cheapest known chain, then all.
  double price_to_reach(std::size_t spread) const {
    constexpr double kAboveRounding = 1 + 1e-9;
    const auto price = [this](std::size_t s) { return chains.spreads()[s].price; };
    const double known = kAboveRounding * cheapest_refined(chains, price);
    return price(spread) < known ? known : kUnknown;
  }

  /// The spread of a point, if its chain is known, or else the cheapest one whose chain is.
  std::optional<std::size_t> known_near(const FrontPoint& point) const {
    if (point.spread && chains.has_chain(*point.spread)) return point.spread;
    std::optional<std::size_t> best;
    for (std::size_t s = 0; s < chains.spreads().size(); ++s)
      if (chains.has_chain(s) &&
          (!best || chains.spreads()[s].price < chains.spreads()[*best].price))
        best = s;
    return best;
  }
};

/// A point of a part's hull that the cheapest mix of all uses.
struct ProblemChains::Choice {
  Part* part = nullptr;
  FrontPoint point;
};

ProblemChains::ProblemChains(const BoundProblem& problem, Goal goal, Counted counted,
                             const std::atomic<bool>* cancel, std::size_t most_spreads)
    : problem_(problem),
      goal_(goal),
      traffic_s_(outer_traffic_bounds(problem).memory_s),
      leak_w_(leaking_power(problem)),
      are_apart_(exchange_outermost(problem)) {
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
    EinsumChains chains(problem, id, counted, std::nullopt, most_spreads);
    const bool knows_all = chains.know_all() || problem.workload[id].is_copy_operation;
    const bool is_whole = counted == Counted::kWhole && knows_all;
    if (!is_whole) in_part.push_back(id);
    if (!is_whole && counted == Counted::kWhole)
      chains = EinsumChains(problem, id, Counted::kPart, std::nullopt, most_spreads);
    are_apart_ = are_apart_ && is_whole;
    const auto equal = std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) {
      return part->floor_j == own.energy_j && part->chains.equals(chains);
    });
    part_of_.push_back(static_cast<std::size_t>(equal - parts_.begin()));
    if (equal != parts_.end()) {
      (*equal)->count += 1;
      continue;
    }
    parts_.push_back(
        std::make_unique<Part>(Part{id, 1, own.energy_j, own.with_operands_s, std::move(chains)}));
    parts_.back()->update(0);
  }
  traffic_j_ = outer_traffic_bounds(problem, in_part).energy_floor_j;
  const std::vector<Choice> choices = cheapest();
  if (goal == Goal::kEnergy) return;
  double seconds = 0, energy_j = 0;
  for (const Choice& choice : choices) {
    seconds += choice.part->count * choice.point.seconds;
    energy_j += choice.part->count * choice.point.energy_j;
  }
  if (seconds > 0) per_s_ = all_energy(energy_j, seconds) / all_seconds(seconds);
}

ProblemChains::~ProblemChains() = default;

double ProblemChains::all_seconds(double seconds) const { return std::max(seconds, traffic_s_); }

double ProblemChains::all_energy(double energy_j, double seconds) const {
  return energy_j + traffic_j_ + leak_w_ * all_seconds(seconds);
}

double ProblemChains::value(double energy_j, double seconds) const {
  const double all_j = all_energy(energy_j, seconds);
  return goal_ == Goal::kEnergy ? all_j : all_j * all_seconds(seconds);
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
    if (before_s < traffic_s_ && traffic_s_ < seconds)
      here = std::min(here, value(before_j + slope * (traffic_s_ - before_s), traffic_s_));
    if (!(here < least)) continue;
    least = here;
    n_taken = n + 1;
  }
  bound_ = std::max(bound_, least);
  std::vector<Choice> choices;  // one for each part
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
  const std::vector<std::size_t> open = cheapest_open(
      chains, kAtOnce, limit, [&](std::size_t s) { return price_of_one(s); },
      [&](std::size_t group) {  // one that stays as it is is left out
        const bool is_over = cancel != nullptr && *cancel;
        if (chains.may_split() && !is_over) chains.split(group);
        return true;
      });
  parallel(open.size(), [&](std::size_t i) {
    chains.refine(
        open[i], [&](double e, double s) { return value(e, s); }, limit, cancel);
  });
  untold_.insert(untold_.end(), open.rbegin(), open.rend());
  double bound = kUnknown;
  for (std::size_t s = 0; s < chains.spreads().size(); ++s)
    bound = std::min(bound, price_of_one(s));
  if (bound < kUnknown) bound_ = std::max(bound_, bound);
  return !open.empty();
}

/// Points of the cheapest mix that chains may know more of; groups among them are split first.
std::vector<ProblemChains::Choice> ProblemChains::open_choices(const std::atomic<bool>* cancel) {
  std::vector<Choice> open;
  for (bool is_split = true; is_split;) {
    is_split = false;
    open.clear();
    for (const Choice& choice : cheapest()) {
      if (!choice.point.spread) continue;
      const SpreadBound& bound = choice.part->chains.spreads()[*choice.point.spread];
      if (bound.is_group) {
        if (!choice.part->chains.may_split() || (cancel != nullptr && *cancel)) continue;
        choice.part->chains.split(*choice.point.spread);
        choice.part->update(per_s_);
        is_split = true;
      } else if (!bound.is_refined && (are_apart_ || bound.n_steps == 0)) {
        // Of Einsums that are not apart, more is unknown than which memories they wait for.
        open.push_back(choice);
      }
    }
  }
  return open;
}

bool ProblemChains::refine(double limit, const Parallel& parallel,
                           const std::atomic<bool>* cancel) {
  if (bound_ >= limit || parts_.empty()) return false;
  if (parts_.size() == 1 && parts_.front()->count == 1) return refine_one(limit, parallel, cancel);
  const std::vector<Choice> open = open_choices(cancel);
  parallel(open.size(), [&](std::size_t i) {
    const auto& [part, point] = open[i];
    part->chains.refine(
        *point.spread, [&](double e, double s) { return e + per_s_ * s; },
        part->price_to_reach(*point.spread), cancel, EinsumChains::Beyond::kKnown);
  });
  for (const Choice& choice : open) choice.part->update(per_s_);
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

/// The chain of an Einsum that is equal to another one but for its names; nothing where they do not
/// run on the same components.
std::optional<Chain> ProblemChains::renamed(Chain chain, EinsumId from, EinsumId to) const {
  const BoundEinsum &known = problem_[from], &other = problem_[to];
  const auto same_way = [](const BoundCompute& a, const BoundCompute& b) {
    return a.component == b.component && a.path == b.path;
  };
  if (!std::equal(known.computes.begin(), known.computes.end(), other.computes.begin(),
                  other.computes.end(), same_way))
    return std::nullopt;
  for (auto& step : chain.steps) {
    auto* node = std::get_if<ChainNode>(&step);
    if (node == nullptr) continue;
    for (std::size_t a = 0; a < known.accesses.size(); ++a)
      if (known.tensors[static_cast<std::size_t>(known.accesses[a].tensor)] == node->tensor) {
        node->tensor = other.tensors[static_cast<std::size_t>(other.accesses[a].tensor)];
        break;
      }
  }
  return chain;
}

std::vector<Chain> ProblemChains::cheapest_chains() {
  std::vector<std::optional<std::size_t>> spreads;  // per part, whose chain it runs
  for (const Choice& choice : cheapest()) spreads.push_back(choice.part->known_near(choice.point));
  if (spreads == told_) return {};
  std::vector<Chain> chains;
  for (std::size_t e = 0; e < part_of_.size() && !spreads.empty(); ++e) {
    const EinsumId id(e);
    const Part& part = *parts_[part_of_[e]];
    const auto spread = spreads[part_of_[e]];
    std::optional<Chain> chain;
    if (problem_.workload[id].is_copy_operation)
      chain = copied_outermost(problem_, id);
    else if (spread)
      chain = renamed(*part.chains.chain_of(*spread), part.einsum, id);
    if (!chain) return {};
    chains.push_back(*std::move(chain));
  }
  told_ = std::move(spreads);
  return chains;
}

}  // namespace sluice
