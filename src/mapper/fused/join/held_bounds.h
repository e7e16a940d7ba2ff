#pragma once

#include <cstdint>
#include <vector>

#include "join.h"
#include "join_plan.h"
#include "mapper/common/pool.h"

namespace sluice::fused {

/// What completing a mapping costs at least, by the bits of a memory that it holds meanwhile: for
/// the whole run, or privately under loops that are still open. What earlier Einsums hold leaves
/// the later ones less room. Costs are weighted sums of energy and latency.
class HeldBounds {
 public:
  /// `edges`: per Einsum, what can be joined; `next`: per Einsum and group that an edge takes;
  /// `nothing`: the spine before the first Einsum; `planners`: not needed later; `near`: energy and
  /// latency of a good mapping, which weigh the two against each other.
  HeldBounds(const JoinContext& context, const std::vector<std::vector<ExchangeEdge>>& edges,
             const std::vector<std::vector<NextGroup>>& next, CompactSpine nothing,
             Pool<JoinPlanner>* planners, EnergyLatency near);

  /// Whether no completion of a partial mapping may beat the bound. `value`: an entry of a
  /// PrefixGroup with `depth` open loops, at a spine of the layer; `bound.others`: what completing
  /// costs at least whatever is held.
  bool is_hopeless(std::size_t layer, std::uint32_t spine, const double* value, std::size_t depth,
                   const SearchBound& bound) const;

  /// The least weighted cost of completing a mapping from a spine that holds so many bits of a
  /// tracked memory, for the whole run or under its `levels` outermost open loops; infinite: no
  /// completion fits.
  double least(std::size_t layer, std::uint32_t spine, std::size_t memory, std::size_t levels,
               double bits) const;

 private:
  static constexpr std::size_t kSteps = 32;  // of the bits held, per memory
  struct Layer {
    std::vector<CompactSpine> spines;
    std::vector<char> is_known;      // per spine: some edge leads to it
    std::vector<std::size_t> first;  // per spine: where its numbers begin
    std::vector<float> costs;        // per memory, levels 0 … depth, step; rounded down
  };
  struct Choice;  // a pmapping, as an edge joins it

  void find_spines(std::size_t einsum, const std::vector<ExchangeEdge>& edges,
                   const std::vector<NextGroup>& next, JoinPlanner* planner);
  void add_edge(std::size_t einsum, const ExchangeEdge& edge, const JoinPlan& plan);
  void add_choice(const Choice& choice, const JoinPlan& plan, const ExchangeEdge& edge,
                  std::size_t layer, std::size_t memory);
  double weigh(double energy, double latency) const {
    return energy_weight_ * energy + latency_weight_ * latency;
  }
  double step(std::size_t memory) const {
    return (*context_.tracked)[memory].size_bits / static_cast<double>(kSteps);
  }

  const JoinContext& context_;
  double energy_weight_ = 0, latency_weight_ = 0;
  std::vector<Layer> layers_;  // 0 … number of Einsums
};

}  // namespace sluice::fused
