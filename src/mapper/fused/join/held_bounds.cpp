#include "held_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mapper/common/parallel.h"
#include "mapper/common/rounding.h"

namespace sluice::fused {
namespace {

constexpr double kInfiniteCost = std::numeric_limits<double>::infinity();

float rounded_down(double value) {
  const auto result = static_cast<float>(value);
  return static_cast<double>(result) > value ? std::nextafter(result, 0.0F) : result;
}

}  // namespace

/// What it needs of one memory.
struct HeldBounds::Choice {
  double cost = 0;
  double total = 0;           ///< while the Einsum runs
  double room = 0;            ///< that there is for it and for what is held already
  std::vector<double> stays;  ///< per level 0 … depth after the join: held from then on above it
};

HeldBounds::HeldBounds(const JoinContext& context,
                       const std::vector<std::vector<ExchangeEdge>>& edges,
                       const std::vector<std::vector<NextGroup>>& next, CompactSpine nothing,
                       Pool<JoinPlanner>* planners, EnergyLatency near)
    : context_(context), layers_(edges.size() + 1) {
  const Objective objective = context.bound.objective;
  if (objective != Objective::kLatency) energy_weight_ = 1 / near.energy;
  if (objective != Objective::kEnergy) latency_weight_ = 1 / near.latency;
  layers_.front().spines = {std::move(nothing)};
  layers_.front().is_known = {1};
  for (std::size_t e = 0; e < edges.size(); ++e)
    find_spines(e, edges[e], next[e], &*planners->borrow());
  for (std::size_t e = edges.size() + 1; e-- > 0;) {
    if (is_cancelled(context_.cancel)) return;
    Layer& layer = layers_[e];
    for (std::size_t s = 0; s < layer.spines.size(); ++s) {
      layer.first.push_back(layer.costs.size());
      if (layer.is_known[s] != 0)
        layer.costs.resize(layer.costs.size() + context.tracked->size() *
                                                    (layer.spines[s].extents.size() + 1) * kSteps,
                           e == edges.size() ? 0 : std::numeric_limits<float>::infinity());
    }
    if (e == edges.size()) continue;
    std::vector<std::size_t> ends;  // where the edges of each spine end
    for (std::size_t i = 0; i < edges[e].size(); ++i)
      if (i + 1 == edges[e].size() || edges[e][i + 1].from != edges[e][i].from)
        ends.push_back(i + 1);
    parallel_for(context.options->threads, ends.size(), [&](std::size_t i) {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      const auto planner = planners->borrow();
      for (std::size_t k = begin; k < ends[i] && !is_cancelled(context_.cancel); ++k)
        if (const ExchangeEdge& edge = edges[e][k]; layer.is_known[edge.from] != 0)
          add_edge(e, edge, planner->plan(layer.spines[edge.from], next[e][edge.group].spine, e));
    });
  }
}

/// The spines of the layer after an Einsum.
void HeldBounds::find_spines(std::size_t einsum, const std::vector<ExchangeEdge>& edges,
                             const std::vector<NextGroup>& next, JoinPlanner* planner) {
  const Layer& before = layers_[einsum];
  Layer& layer = layers_[einsum + 1];
  layer.spines.resize(context_.graph->n_spines[einsum + 1]);
  layer.is_known.assign(layer.spines.size(), 0);
  for (const ExchangeEdge& edge : edges) {
    if (layer.is_known[edge.to] != 0 || before.is_known[edge.from] == 0) continue;
    layer.is_known[edge.to] = 1;
    layer.spines[edge.to] =
        planner->joined(before.spines[edge.from], next[edge.group].spine, einsum);
  }
}

void HeldBounds::add_edge(std::size_t einsum, const ExchangeEdge& edge, const JoinPlan& plan) {
  const PmappingGroup& group = context_.tables[einsum]->groups[edge.group];
  const std::size_t n = context_.tracked->size();
  std::vector<Choice> choices(n);  // per memory
  for (std::size_t j = 0; j < group.size(); ++j) {
    const double* value = group.value(j);
    bool fits = true;
    for (std::size_t m = 0; m < n; ++m) {
      Choice& choice = choices[m];
      const double size = (*context_.tracked)[m].size_bits;
      const double* own = value + 2 + m * (plan.next_depth + 1);
      const double persistent = value[2 + n * (plan.next_depth + 1) + m] + plan.persistent[m];
      choice.cost = weigh(value[0], value[1]);
      choice.total = std::accumulate(own, own + plan.next_depth + 1, persistent);
      const double* during = plan.during.data() + m * plan.levels();
      const double* after = plan.after.data() + m * plan.levels();
      choice.room = size / kBelowRounding - std::accumulate(during, during + plan.levels(), 0.0);
      choice.stays.assign(1, persistent);
      for (std::size_t l = 0; l < plan.depth; ++l)
        choice.stays.push_back(choice.stays.back() + own[l] + during[l] - after[l]);
      fits = fits && choice.total <= choice.room;
    }
    for (std::size_t m = 0; m < n && fits; ++m) add_choice(choices[m], plan, edge, einsum, m);
  }
}

/// For each number of levels and of bits that were held under them: what is held after the join,
/// under as many levels, and under all that are open then. Where one of them has closed, nothing is
/// known to be.
void HeldBounds::add_choice(const Choice& choice, const JoinPlan& plan, const ExchangeEdge& edge,
                            std::size_t layer, std::size_t memory) {
  const double whatever = choice.cost + least(layer + 1, edge.to, memory, 0, 0);
  Layer& own = layers_[layer];
  float* costs = own.costs.data() + own.first[edge.from] + memory * (plan.left_depth + 1) * kSteps;
  for (std::size_t k = 0; k <= plan.left_depth; ++k) {
    const bool is_closed = plan.depth < k;
    for (std::size_t q = 0; q < kSteps; ++q) {
      float& cost = costs[k * kSteps + q];
      const double held = static_cast<double>(q) * step(memory);
      if (held + choice.total > choice.room) break;
      if (whatever >= static_cast<double>(cost)) continue;
      const double all = least(layer + 1, edge.to, memory, plan.depth,
                               (is_closed ? 0 : held) + choice.stays[plan.depth]);
      const double same =
          is_closed ? 0 : least(layer + 1, edge.to, memory, k, held + choice.stays[k]);
      cost = std::min(cost, rounded_down(choice.cost + std::max(all, same)));
    }
  }
}

double HeldBounds::least(std::size_t layer, std::uint32_t spine, std::size_t memory,
                         std::size_t levels, double bits) const {
  const Layer& own = layers_[layer];
  const std::size_t depth = own.spines[spine].extents.size();
  const double at = std::floor(bits * kBelowRounding / step(memory));
  if (at > static_cast<double>(kSteps)) return kInfiniteCost;
  const auto q = static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(kSteps - 1)));
  return static_cast<double>(
      own.costs[own.first[spine] + (memory * (depth + 1) + levels) * kSteps + q]);
}

/// Completions lie above the hull and above the line of the least weighted cost. There objectives
/// are least at a corner: of the hull, or where the line cuts it.
bool HeldBounds::is_hopeless(std::size_t layer, std::uint32_t spine, const double* value,
                             std::size_t depth, const SearchBound& bound) const {
  const std::size_t n = context_.tracked->size();
  double cost = 0;
  for (std::size_t m = 0; m < n; ++m) {
    const double* open = value + 2 + m * (2 * depth + 1) + depth + 1;
    double held = value[2 + n * (2 * depth + 1) + m];
    cost = std::max(cost, least(layer, spine, m, 0, held));
    for (std::size_t l = 0; l < depth; ++l) {
      held += open[l];
      cost = std::max(cost, least(layer, spine, m, l + 1, held));
    }
  }
  if (cost == kInfiniteCost) return true;
  cost *= kBelowRounding;
  const auto beats = [&](double energy, double latency) {
    return objective_value(bound.objective, value[0] + energy, value[1] + latency) <= bound.limit;
  };
  const LowerHull& hull = bound.others;
  const EnergyLatency &left = hull.front(), &right = hull.back();
  if (latency_weight_ > 0 && weigh(left.energy, left.latency) < cost &&
      beats(left.energy, (cost - energy_weight_ * left.energy) / latency_weight_))
    return false;
  if (energy_weight_ > 0 && weigh(right.energy, right.latency) < cost &&
      beats((cost - latency_weight_ * right.latency) / energy_weight_, right.latency))
    return false;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const double own = weigh(hull[i].energy, hull[i].latency);
    if (own >= cost && beats(hull[i].energy, hull[i].latency)) return false;
    if (i + 1 == hull.size()) continue;
    const double next = weigh(hull[i + 1].energy, hull[i + 1].latency);
    if ((own < cost) == (next < cost)) continue;
    const double share = (cost - own) / (next - own);
    if (beats(hull[i].energy + share * (hull[i + 1].energy - hull[i].energy),
              hull[i].latency + share * (hull[i + 1].latency - hull[i].latency)))
      return false;
  }
  return true;
}

}  // namespace sluice::fused
