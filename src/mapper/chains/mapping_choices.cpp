#include "mapping_choices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "chain_choice.h"
#include "einsum_search.h"
#include "mapper/common/contains.h"
#include "mapper/request/einsum_walk.h"

namespace sluice::chains {
namespace {

/// One Einsum's chain, as a mapping has it.
struct ReadChain {
  Chain chain;
  std::size_t n_shared = 0;  ///< steps above the innermost split
};

class ChainReader {
 public:
  ChainReader(const BoundProblem& problem, const EinsumWalk& way)
      : space_(problem.workload[way.einsum].iteration_space), way_(way) {
    for (const VariableRange& range : space_) tile_.push_back(range.size);
  }

  /// Nothing where chains have no such steps.
  std::optional<ReadChain> read() {
    if (way_.has_collective || !are_sequential()) return std::nullopt;
    ReadChain read;
    read.chain.compute = way_.compute;
    for (std::size_t s = 0; s < way_.steps.size(); ++s) {
      if (s == way_.n_above_splits) read.n_shared = read.chain.steps.size();
      if (!add(way_.steps[s], &read.chain.steps)) return std::nullopt;
    }
    if (way_.steps.size() == way_.n_above_splits) read.n_shared = read.chain.steps.size();
    if (std::any_of(tile_.begin(), tile_.end(), [](std::int64_t left) { return left != 1; }))
      return std::nullopt;
    return read;
  }

 private:
  bool are_sequential() const {
    return std::all_of(way_.splits.begin(), way_.splits.end(), [](const SplitNode* split) {
      return split->kind == SplitKind::kSequential;
    });
  }

  bool add(const WalkedStep& step, ChainSteps* steps) {
    if (const auto* storage = std::get_if<StorageNode>(&step.node->kind)) {
      if (storage->resident || storage->incremental || storage->shared_by) return false;
      for (const TensorId tensor : storage->tensors)
        if (contains(step.storage->tensors, tensor))
          steps->push_back(ChainNode{tensor, storage->component, storage->sliding});
      return true;
    }
    if (const auto* loop = std::get_if<TemporalNode>(&step.node->kind))
      return add_loop(*loop, step.loop, {}, steps);
    const auto& loop = std::get<SpatialNode>(step.node->kind);
    return add_loop(loop, step.loop, std::pair(loop.component, loop.dimension), steps);
  }

  template <class LoopNode>
  bool add_loop(const LoopNode& node, const WalkedLoop& loop,
                std::optional<std::pair<ComponentId, std::uint32_t>> spatial, ChainSteps* steps) {
    const auto own = std::find_if(space_.begin(), space_.end(), [&](const VariableRange& range) {
      return range.variable == loop.variable;
    });
    const auto variable = static_cast<std::size_t>(own - space_.begin());
    const std::int64_t around = std::exchange(tile_[variable], node.tile_shape);
    if (node.initial_tile_shape || node.tile_shape < 1 || around % node.tile_shape != 0)
      return false;
    steps->push_back(ChainLoop{variable, around / node.tile_shape, spatial});
    return true;
  }

  const std::vector<VariableRange>& space_;
  const EinsumWalk& way_;
  std::vector<std::int64_t> tile_;  ///< per variable, inside the steps read
};

}  // namespace

std::optional<sampling::Genome> choices_of(const Mapping& mapping, const CostTotals& whole,
                                           sampling::MapSpace* space, sampling::FanoutUse* use) {
  const BoundProblem& problem = space->problem();
  const std::vector<EinsumWalk> ways = walks_of(problem.workload, mapping);
  if (ways.size() != space->n_einsums()) return std::nullopt;
  const EinsumChains::Worth price = worth(space->options().objectives.front(), whole);
  sampling::Genome genome(ways.size());
  for (const EinsumWalk& way : ways) {
    const auto read = ChainReader(problem, way).read();
    if (!read) return std::nullopt;
    const ChainSteps& steps = read->chain.steps;
    const ChainSteps shared(steps.begin(),
                            steps.begin() + static_cast<std::ptrdiff_t>(read->n_shared));
    const std::size_t e = way.einsum.index();
    auto choice = choice_of(read->chain, e, price, nullptr, shared, space, use);
    if (!choice) return std::nullopt;
    genome[e] = std::move(choice->choice);
  }
  if (!space->joins(genome)) return std::nullopt;
  return genome;
}

}  // namespace sluice::chains
