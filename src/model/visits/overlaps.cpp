#include "model/visits/overlaps.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "model/tree/lookups.h"
#include "model/visits/tile_positions.h"

namespace sluice {
namespace {

/// What the accesses of a tensor touch of one rank, and how far a step of a variable moves it.
struct Reach {
  std::int64_t low = 0, high = 0;
  std::optional<std::int64_t> move;  ///< per index of the variable; none where accesses disagree
  bool any = false;

  void include(std::int64_t from, std::int64_t to, std::int64_t coefficient) {
    move = !any || move == coefficient ? std::optional(coefficient) : std::nullopt;
    low = any ? std::min(low, from) : from;
    high = any ? std::max(high, to) : to;
    any = true;
  }
};

/// The largest tile of each variable inside one of the nest's loops; of the loop's own variable a
/// later one, as first tiles reach and move farther by the same.
std::vector<std::int64_t> tiles_inside(const BoundProblem& problem, const FlatTree& tree,
                                       const Nest& nest, const NestLoop& loop) {
  std::vector<std::int64_t> tiles;
  for (const VariableRange& range : problem.workload[nest.einsum].iteration_space)
    tiles.push_back(range.size);
  for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
    const NestLoop& outer = tree.loops[l];
    std::int64_t& tile = tiles[static_cast<std::size_t>(outer.variable)];
    tile = &outer == &loop ? outer.tile : std::max(outer.tile, outer.first);
    if (&outer == &loop) break;
  }
  return tiles;
}

/// Whether the maker of a tensor makes in each step of a loop the rows that its readers need then,
/// wherever they are.
bool makes_rows(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                const NestLoop& loop, int tensor) {
  const TensorId id = problem[nest.einsum].tensors[static_cast<std::size_t>(tensor)];
  const Nest* const maker = nest_of_maker(problem, tree, id);
  const NestLoop* const making = maker ? loop_at_node(tree, *maker, loop.node) : nullptr;
  return making && making->follows;
}

/// Whether what two steps of a loop touch of a tensor overlaps.
bool steps_overlap(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                   const NestLoop& loop, int tensor) {
  const BoundEinsum& einsum = problem[nest.einsum];
  if (einsum.held_relevance[static_cast<std::size_t>(tensor)]
                           [static_cast<std::size_t>(loop.variable)] == Relevance::kPartial &&
      !steps_are_apart(problem, tree, nest, loop, tensor, false))
    return true;
  if (!problem.holds_unlike_boxes || makes_rows(problem, tree, nest, loop, tensor)) return false;
  for (const BoundAccess& access : einsum.held) {
    if (access.tensor != tensor) continue;
    for (const BoundIndex& index : access.index)
      for (const BoundTerm& term : index.terms)
        if (term.variable == loop.variable && index.others > 0) return true;
  }
  return false;
}

}  // namespace

bool steps_are_apart(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                     const NestLoop& loop, int tensor, bool reads_only) {
  const std::vector<std::int64_t> tiles = tiles_inside(problem, tree, nest, loop);
  std::vector<Reach> ranks;
  for (const BoundAccess& access : problem[nest.einsum].accesses) {
    if (access.tensor != tensor || (reads_only && access.is_output)) continue;
    ranks.resize(access.index.size());
    for (std::size_t r = 0; r < access.index.size(); ++r) {
      const BoundIndex& index = access.index[r];
      const auto [low, high] = range_of(index, [&](int v) {
        return TileAt{0, tiles[static_cast<std::size_t>(v)]};
      });
      std::int64_t coefficient = 0;
      for (const BoundTerm& term : index.terms)
        if (term.variable == loop.variable) coefficient = term.coefficient;
      ranks[r].include(low, high, coefficient);
    }
  }
  return std::any_of(ranks.begin(), ranks.end(), [&](const Reach& reach) {
    return reach.move.value_or(0) != 0 &&
           std::abs(*reach.move) * loop.tile > reach.high - reach.low;
  });
}

const NestLoop* carrying_loop(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                              const NestStorage& storage) {
  if (storage.loops_above == 0) return nullptr;
  const auto carries = [&](int l) -> const NestLoop* {
    const NestLoop& loop = tree.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
    const bool steps = !loop.spatial && loop.trips > 1;
    return steps && steps_overlap(problem, tree, nest, loop, storage.tensor) ? &loop : nullptr;
  };
  const bool is_output = (problem[nest.einsum].output >> storage.tensor & 1) != 0;
  if (storage.slides_over >= 0) return is_output ? nullptr : carries(storage.slides_over);
  if (!tree.entries[storage.entry].backing) return nullptr;
  const TensorId tensor = problem[nest.einsum].tensors[static_cast<std::size_t>(storage.tensor)];
  if (!problem.roles.sole_maker(tensor)) return nullptr;
  for (int l = 0; l < storage.loops_above; ++l)
    if (const NestLoop* loop = carries(l)) return loop;
  return nullptr;
}

}  // namespace sluice
