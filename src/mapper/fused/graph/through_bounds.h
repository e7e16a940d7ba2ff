#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exchange_graph.h"
#include "mapper/fused/tiles/hull.h"

namespace sluice::fused {

/// What whole mappings cost at least whose Einsums exchange their tensors in given ways, capacities
/// aside: hulls of energy and latency along all paths of an exchange graph. First of bounds, then
/// of what is priced, Einsum by Einsum; what leads to nothing better than a known mapping is
/// dropped.
class ThroughBounds {
 public:
  static constexpr std::size_t kCorners = 6;  ///< of a hull: more of them tell little
  /// Of the groups of one Einsum lower-left hulls; empty: the group has no pmapping.
  using Costs = std::shared_ptr<const HullList>;

  /// `costs`: per Einsum.
  ThroughBounds(ExchangeGraph graph, std::vector<Costs> costs, int threads)
      : graph_(std::move(graph)), costs_(std::move(costs)), threads_(threads) {}

  /// What is now known of an Einsum's groups.
  void set_costs(std::size_t einsum, Costs costs) { costs_[einsum] = std::move(costs); }
  /// Forgets all groups of an Einsum but some (ascending), among them those of its edges: their
  /// places in `kept` are their numbers from now on.
  void keep_groups(std::size_t einsum, const std::vector<std::uint32_t>& kept);
  /// Drops the edges on no path that may beat the bound, and the spines between them.
  void update(const SearchBound& bound);
  /// Per group of an Einsum: what the others cost at least, as of the last update; empty: no whole
  /// mapping that may beat the bound has it.
  std::vector<LowerHull> others(std::size_t einsum);
  /// The least objective of any path as of the last update; infinite: none is left.
  double least(const SearchBound& bound) const;

  const ExchangeGraph& graph() const { return graph_; }

 private:
  /// A hull of few corners, all in one place: there may be millions.
  struct SmallHull {
    std::uint32_t n = 0;
    std::array<EnergyLatency, kCorners> corners{};
    std::span<const EnergyLatency> points() const { return {corners.data(), n}; }
  };
  using Hulls = std::vector<SmallHull>;

  static SmallHull small(const LowerHull& hull);
  Hulls extend(std::size_t einsum, const Hulls& beyond, std::uint32_t ExchangeEdge::*at,
               std::uint32_t ExchangeEdge::*other, std::size_t n_spines) const;
  void drop_hopeless(std::size_t einsum, const Hulls& before, const Hulls& after,
                     const SearchBound& bound);
  void drop_unused(std::size_t layer);

  ExchangeGraph graph_;
  std::vector<Costs> costs_;        // per Einsum
  std::vector<Hulls> completions_;  // per layer and spine
  std::vector<Hulls> beginnings_;   // the same
  int threads_;
};

}  // namespace sluice::fused
