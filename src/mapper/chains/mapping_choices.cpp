#include "mapping_choices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "chain_choice.h"
#include "einsum_search.h"

namespace sluice::chains {
namespace {

/// Chains of all Einsums, as a mapping has them.
class Reader {
 public:
  Reader(const BoundProblem& problem, const Mapping& mapping)
      : problem_(problem), chains_(problem.einsums.size()) {
    is_read_ = read(mapping.nodes, {}, 0) && has_all();
  }

  struct Read {
    Chain chain;
    std::size_t n_shared = 0;  ///< steps above the innermost split
  };
  bool is_read() const { return is_read_; }
  const Read& operator[](std::size_t einsum) const { return *chains_[einsum]; }

 private:
  using Nodes = std::vector<const Node*>;

  bool has_all() const {
    return std::all_of(chains_.begin(), chains_.end(),
                       [](const auto& chain) { return chain.has_value(); });
  }

  /// `above`: the nodes around the list, of which so many are above a split.
  bool read(const NodeList& nodes, Nodes above, std::size_t n_shared) {
    for (const Node& node : nodes) {
      if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
        if (split->kind != SplitKind::kSequential) return false;
        for (const NodeList& child : split->children)
          if (!read(child, above, above.size())) return false;
      } else if (const auto* compute = std::get_if<ComputeNode>(&node.kind)) {
        if (!read_einsum(*compute, above, n_shared)) return false;
      } else {
        above.push_back(&node);
      }
    }
    return true;
  }

  bool read_einsum(const ComputeNode& compute, const Nodes& above, std::size_t n_shared) {
    auto& read = chains_[compute.einsum.index()];
    if (read) return false;
    read.emplace();
    read->chain.compute = compute.component;
    std::vector<std::int64_t> tile;
    for (const VariableRange& range : problem_.workload[compute.einsum].iteration_space)
      tile.push_back(range.size);
    for (std::size_t n = 0; n < above.size(); ++n) {
      if (!add(*above[n], compute.einsum, &tile, &read->chain.steps)) return false;
      if (n + 1 == n_shared) read->n_shared = read->chain.steps.size();
    }
    return std::all_of(tile.begin(), tile.end(), [](std::int64_t left) { return left == 1; });
  }

  bool add(const Node& node, EinsumId einsum, std::vector<std::int64_t>* tile,
           ChainSteps* steps) const {
    if (const auto* storage = std::get_if<StorageNode>(&node.kind))
      return add_storage(*storage, einsum, steps);
    if (const auto* loop = std::get_if<TemporalNode>(&node.kind))
      return !loop->initial_tile_shape &&
             add_loop(loop->variables, loop->tile_shape, {}, einsum, tile, steps);
    if (const auto* loop = std::get_if<SpatialNode>(&node.kind))
      return !loop->initial_tile_shape &&
             add_loop(loop->variables, loop->tile_shape,
                      std::pair(loop->component, loop->dimension), einsum, tile, steps);
    return false;  // a collective
  }

  bool add_storage(const StorageNode& node, EinsumId einsum, ChainSteps* steps) const {
    if (node.resident || node.incremental || node.shared_by) return false;
    const auto serves = [&](TensorId tensor) {
      return problem_[einsum].local_tensor[tensor.index()] >= 0 &&
             (node.einsums.empty() ||
              std::find(node.einsums.begin(), node.einsums.end(), einsum) != node.einsums.end());
    };
    for (const TensorId tensor : node.tensors)
      if (serves(tensor)) steps->push_back(ChainNode{tensor, node.component, node.sliding});
    return true;
  }

  bool add_loop(const std::vector<RankVariableId>& variables, std::int64_t inside,
                std::optional<std::pair<ComponentId, std::uint32_t>> spatial, EinsumId einsum,
                std::vector<std::int64_t>* tile, ChainSteps* steps) const {
    const std::vector<VariableRange>& space = problem_.workload[einsum].iteration_space;
    for (const RankVariableId variable : variables) {
      const auto own = std::find_if(space.begin(), space.end(), [&](const VariableRange& range) {
        return range.variable == variable;
      });
      if (own == space.end()) continue;
      std::int64_t& around = (*tile)[static_cast<std::size_t>(own - space.begin())];
      if (inside < 1 || around % inside != 0) return false;
      const std::int64_t trips = around / inside;
      around = inside;
      if (trips > 1)
        steps->push_back(ChainLoop{static_cast<std::size_t>(own - space.begin()), trips, spatial});
      return true;
    }
    return true;  // a loop of its neighbours
  }

  const BoundProblem& problem_;
  std::vector<std::optional<Read>> chains_;  ///< per Einsum
  bool is_read_ = false;
};

}  // namespace

std::optional<sampling::Genome> choices_of(const Mapping& mapping, const CostTotals& whole,
                                           sampling::MapSpace* space, sampling::FanoutUse* use) {
  const Reader read(space->problem(), mapping);
  if (!read.is_read()) return std::nullopt;
  const Objective objective = space->options().objectives.front();
  const EinsumChains::Worth price = worth(objective, whole);
  sampling::Genome genome;
  for (std::size_t e = 0; e < space->n_einsums(); ++e) {
    const ChainSteps& steps = read[e].chain.steps;
    const ChainSteps shared(steps.begin(),
                            steps.begin() + static_cast<std::ptrdiff_t>(read[e].n_shared));
    auto choice = choice_of(read[e].chain, e, price, nullptr, shared, space, use);
    if (!choice) return std::nullopt;
    genome.push_back(std::move(choice->choice));
  }
  if (!space->joins(genome)) return std::nullopt;
  return genome;
}

}  // namespace sluice::chains
