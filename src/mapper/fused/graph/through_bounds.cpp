#include "through_bounds.h"

#include <algorithm>
#include <limits>

#include "mapper/common/parallel.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kChunk = 4096;

/// Edges by one of their ends: those of node s are order[first[s]] … order[first[s + 1] - 1].
struct EdgesBy {
  std::vector<std::uint32_t> first, order;

  EdgesBy(const std::vector<ExchangeEdge>& edges, std::size_t nodes,
          std::uint32_t ExchangeEdge::*end)
      : first(nodes + 1, 0), order(edges.size()) {
    for (const ExchangeEdge& edge : edges) ++first[edge.*end + 1];
    for (std::size_t s = 0; s < nodes; ++s) first[s + 1] += first[s];
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < edges.size(); ++i) order[next[edges[i].*end]++] = i;
  }
};

}  // namespace

void ThroughBounds::keep_groups(std::size_t einsum, const std::vector<std::uint32_t>& kept) {
  std::vector<std::uint32_t> number(costs_[einsum]->size(), 0);
  const auto costs = std::make_shared<HullList>();
  for (std::uint32_t k = 0; k < kept.size(); ++k) {
    number[kept[k]] = k;
    costs->add((*costs_[einsum])[kept[k]]);
  }
  for (ExchangeEdge& edge : graph_.edges[einsum]) edge.group = number[edge.group];
  costs_[einsum] = costs;
}

ThroughBounds::SmallHull ThroughBounds::small(const LowerHull& hull) {
  if (hull.size() > kCorners) return small(coarser(hull, kCorners));
  SmallHull result;
  result.n = static_cast<std::uint32_t>(hull.size());
  std::copy(hull.begin(), hull.end(), result.corners.begin());
  return result;
}

/// Per spine at one end of an Einsum's edges: what the Einsum costs at least together with all
/// beyond the other end.
ThroughBounds::Hulls ThroughBounds::extend(std::size_t einsum, const Hulls& beyond,
                                           std::uint32_t ExchangeEdge::*at,
                                           std::uint32_t ExchangeEdge::*other,
                                           std::size_t n_spines) const {
  const std::vector<ExchangeEdge>& edges = graph_.edges[einsum];
  const HullList& costs = *costs_[einsum];
  const EdgesBy by(edges, n_spines, at);
  Hulls result(n_spines);
  parallel_chunks(threads_, n_spines, kChunk, [&](std::size_t first, std::size_t last) {
    std::vector<EnergyLatency> points;
    for (std::size_t s = first; s < last; ++s) {
      points.clear();
      for (std::uint32_t i = by.first[s]; i < by.first[s + 1]; ++i) {
        const ExchangeEdge& edge = edges[by.order[i]];
        add_sum(costs[edge.group], beyond[edge.*other].points(), &points);
      }
      to_lower_hull(&points);
      result[s] = small(points);
    }
  });
  return result;
}

void ThroughBounds::drop_hopeless(std::size_t einsum, const Hulls& before, const Hulls& after,
                                  const SearchBound& bound) {
  std::vector<ExchangeEdge>& edges = graph_.edges[einsum];
  const HullList& costs = *costs_[einsum];
  std::vector<char> hopeless(edges.size(), 0);
  parallel_chunks(threads_, edges.size(), kChunk, [&](std::size_t first, std::size_t last) {
    std::vector<EnergyLatency> begun, whole;
    for (std::size_t i = first; i < last; ++i) {
      begun.clear();
      whole.clear();
      add_sum(before[edges[i].from].points(), costs[edges[i].group], &begun);
      add_sum(begun, after[edges[i].to].points(), &whole);  // of nothing and anything: nothing
      hopeless[i] = std::all_of(whole.begin(), whole.end(), [&](const EnergyLatency& point) {
        return bound.active &&
               objective_value(bound.objective, point.energy, point.latency) > bound.limit;
      });
    }
  });
  std::size_t i = 0;
  std::erase_if(edges, [&](const ExchangeEdge&) { return hopeless[i++] != 0; });
}

/// Renumbers the spines of a layer: those that no edge ends at any more would be looked at in vain.
void ThroughBounds::drop_unused(std::size_t layer) {
  std::vector<ExchangeEdge>& before = graph_.edges[layer - 1];
  std::vector<ExchangeEdge>& behind = graph_.edges[layer];
  std::vector<std::uint32_t> number(graph_.n_spines[layer], 0);
  for (const ExchangeEdge& edge : before) number[edge.to] = 1;
  for (const ExchangeEdge& edge : behind) number[edge.from] = 1;
  std::uint32_t n = 0;
  for (std::size_t s = 0; s < number.size(); ++s) {
    if (number[s] == 0) continue;
    beginnings_[layer][n] = beginnings_[layer][s];
    completions_[layer][n] = completions_[layer][s];
    number[s] = n++;
  }
  for (ExchangeEdge& edge : before) edge.to = number[edge.to];
  for (ExchangeEdge& edge : behind) edge.from = number[edge.from];
  graph_.n_spines[layer] = n;
  for (Hulls* hulls : {&beginnings_[layer], &completions_[layer]}) {
    hulls->resize(n);
    hulls->shrink_to_fit();
  }
}

void ThroughBounds::update(const SearchBound& bound) {
  const std::size_t n = costs_.size();
  const SmallHull nothing = small({{0, 0}});
  completions_.assign(n + 1, {});
  completions_[n].assign(graph_.n_spines[n], nothing);
  for (std::size_t e = n; e-- > 0;)
    completions_[e] =
        extend(e, completions_[e + 1], &ExchangeEdge::from, &ExchangeEdge::to, graph_.n_spines[e]);
  beginnings_.assign(n + 1, {});
  beginnings_[0].assign(graph_.n_spines[0], nothing);
  for (std::size_t e = 0; e < n; ++e) {
    drop_hopeless(e, beginnings_[e], completions_[e + 1], bound);
    beginnings_[e + 1] =
        extend(e, beginnings_[e], &ExchangeEdge::to, &ExchangeEdge::from, graph_.n_spines[e + 1]);
    if (e > 0) drop_unused(e);
  }
}

std::vector<LowerHull> ThroughBounds::others(std::size_t einsum) {
  const std::vector<ExchangeEdge>& edges = graph_.edges[einsum];
  const EdgesBy by(edges, costs_[einsum]->size(), &ExchangeEdge::group);
  std::vector<LowerHull> result(costs_[einsum]->size());
  parallel_chunks(threads_, result.size(), kChunk, [&](std::size_t first, std::size_t last) {
    std::vector<EnergyLatency> points;
    for (std::size_t g = first; g < last; ++g) {
      points.clear();
      for (std::uint32_t i = by.first[g]; i < by.first[g + 1]; ++i) {
        const ExchangeEdge& edge = edges[by.order[i]];
        add_sum(beginnings_[einsum][edge.from].points(), completions_[einsum + 1][edge.to].points(),
                &points);
      }
      result[g] = lower_hull(points);
    }
  });
  return result;
}

double ThroughBounds::least(const SearchBound& bound) const {
  double least = std::numeric_limits<double>::infinity();
  for (const SmallHull& hull : completions_.front())
    for (std::uint32_t i = 0; i < hull.n; ++i)
      least = std::min(
          least, objective_value(bound.objective, hull.corners[i].energy, hull.corners[i].latency));
  return least;
}

}  // namespace sluice::fused
