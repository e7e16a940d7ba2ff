#include "model/windows.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

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

/// The largest tile of each variable inside one of the nest's loops.
std::vector<std::int64_t> tiles_inside(const BoundProblem& problem, const FlatTree& tree,
                                       const Nest& nest, const NestLoop& loop) {
  std::vector<std::int64_t> tiles;
  for (const VariableRange& range : problem.workload[nest.einsum].iteration_space)
    tiles.push_back(range.size);
  for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
    const NestLoop& outer = tree.loops[l];
    tiles[static_cast<std::size_t>(outer.variable)] = std::max(outer.tile, outer.first);
    if (&outer == &loop) break;
  }
  return tiles;
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
      std::int64_t low = index.constant, high = index.constant + index.slack, coefficient = 0;
      for (const BoundTerm& term : index.terms) {
        const std::int64_t end =
            term.coefficient * (tiles[static_cast<std::size_t>(term.variable)] - 1);
        (end < 0 ? low : high) += end;
        if (term.variable == loop.variable) coefficient = term.coefficient;
      }
      ranks[r].include(low, high, coefficient);
    }
  }
  return std::any_of(ranks.begin(), ranks.end(), [&](const Reach& reach) {
    return reach.move.value_or(0) != 0 &&
           std::abs(*reach.move) * loop.tile > reach.high - reach.low;
  });
}

}  // namespace sluice
