#include "model/legality/windows.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "model/bind/bound_access.h"
#include "model/bind/index_extent.h"
#include "model/tree/lookups.h"
#include "model/visits/tile_positions.h"

namespace sluice {
namespace {

/// First and last index of a variable's first and last tile at a storage.
struct Ends {
  std::int64_t first_low = 0, first_high = 0;
  std::int64_t last_low = 0, last_high = 0;
};

Ends ends_of(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
             const NestStorage& storage, int variable) {
  const VariableRange& range =
      problem.workload[nest.einsum].iteration_space[static_cast<std::size_t>(variable)];
  std::int64_t first = range.size, last = range.size;
  for (int l = 0; l < storage.loops_above; ++l) {
    const NestLoop& loop = tree.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
    if (loop.variable != variable) continue;
    const std::int64_t start = loop.first > 0 ? loop.first : loop.tile;
    first = std::min(first, start);
    if (last > start) last -= start + (last - start - 1) / loop.tile * loop.tile;
  }
  const std::int64_t end = range.minimum + range.size - 1;
  return {range.minimum, range.minimum + first - 1, end - last + 1, end};
}

}  // namespace

bool covers_moved_ranks(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                        const NestLoop& loop, const NestStorage& storage) {
  const BoundEinsum& einsum = problem[nest.einsum];
  const Tensor& tensor = problem.workload[einsum.tensors[static_cast<std::size_t>(storage.tensor)]];
  for (const BoundAccess& access : einsum.accesses) {
    if (access.tensor != storage.tensor) continue;
    for (std::size_t r = 0; r < access.index.size(); ++r) {
      const BoundIndex& index = access.index[r];
      std::int64_t highest_start = index.constant, lowest_end = index.constant + index.slack;
      bool moved = false;
      for (const BoundTerm& term : index.terms) {
        const Ends ends = ends_of(problem, tree, nest, storage, term.variable);
        const bool up = term.coefficient > 0;
        highest_start += term.coefficient * (up ? ends.last_low : ends.first_high);
        lowest_end += term.coefficient * (up ? ends.first_high : ends.last_low);
        moved |= term.variable == loop.variable;
      }
      if (moved && (highest_start > 0 || lowest_end < problem.workload[tensor.ranks[r]].size - 1))
        return false;
    }
  }
  return true;
}

bool touched_alike(const BoundProblem& problem, TensorId tensor) {
  using Box = std::vector<std::pair<std::int64_t, std::int64_t>>;
  std::optional<Box> first;
  for (EinsumId user : problem.roles.users(tensor))
    for (const TensorAccess& access : problem.workload[user].accesses) {
      if (access.tensor != tensor) continue;
      Box box;
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        const auto [low, high] = touched_range(problem.workload[user], access.projection[r]);
        const std::int64_t size = problem.workload[problem.workload[tensor].ranks[r]].size;
        box.emplace_back(std::max<std::int64_t>(low, 0), std::min(high, size - 1));
      }
      if (first && *first != box) return false;
      first = std::move(box);
    }
  return true;
}

bool moves_window(const BoundProblem& problem, const FlatTree& tree, TensorId tensor) {
  const std::vector<EinsumId> users = problem.roles.users(tensor);
  const auto nest_of = [&](EinsumId user) -> const Nest* {
    const int place = tree.place_of[user.index()];
    const bool has_nest = place >= 0 && static_cast<std::size_t>(place) < tree.nests.size();
    return has_nest ? &tree.nests[static_cast<std::size_t>(place)] : nullptr;
  };
  for (EinsumId user : users) {
    const Nest* nest = nest_of(user);
    if (!nest) continue;
    const int local = problem[user].local_tensor[tensor.index()];
    for (auto l = nest->loops_begin; l < nest->loops_end; ++l) {
      const NestLoop& loop = tree.loops[l];
      if (problem[user].relevance[static_cast<std::size_t>(local)]
                                 [static_cast<std::size_t>(loop.variable)] != Relevance::kPartial)
        continue;
      for (EinsumId other : users) {
        const Nest* reader = other == user ? nullptr : nest_of(other);
        const NestLoop* shared = reader ? loop_at_node(tree, *reader, loop.node) : nullptr;
        if (shared && (loop.trips > 1 || shared->trips > 1)) return true;
      }
    }
  }
  return false;
}

bool touch_nothing_together(const Workload& workload, TensorId tensor, EinsumId a, EinsumId b) {
  const Einsum &left = workload[a], &right = workload[b];
  for (const TensorAccess& mine : left.accesses)
    for (const TensorAccess& theirs : right.accesses) {
      if (mine.tensor != tensor || theirs.tensor != tensor) continue;
      bool apart = false;
      for (std::size_t r = 0; r < mine.projection.size(); ++r) {
        const auto [first, last] = touched_range(left, mine.projection[r]);
        const auto [other_first, other_last] = touched_range(right, theirs.projection[r]);
        apart = apart || last < other_first || other_last < first;
      }
      if (!apart) return false;
    }
  return true;
}

bool reads_other_part(const BoundProblem& problem, TensorId tensor, EinsumId maker,
                      EinsumId reader) {
  return problem.roles.has_several_makers(tensor) &&
         touch_nothing_together(problem.workload, tensor, maker, reader);
}

}  // namespace sluice
