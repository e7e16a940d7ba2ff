#include "moved_tiles.h"

namespace sluice::referee {

std::optional<std::size_t> rank_of_move(const std::vector<IndexBox>& before,
                                        const std::vector<IndexBox>& now) {
  std::optional<std::size_t> moved;
  for (std::size_t access = 0; access < now.size(); ++access)
    for (std::size_t rank = 0; rank < now[access].size(); ++rank) {
      const Range& from = before[access][rank];
      const Range& to = now[access][rank];
      if (from == to) continue;
      if (to.begin <= from.begin || (moved && *moved != rank)) return std::nullopt;
      moved = rank;
    }
  return moved;
}

std::optional<std::size_t> rank_of_innermost(const Workload& workload, const Program& program,
                                             EinsumId einsum, TensorId tensor,
                                             std::size_t n_loops) {
  const Einsum& of = workload[einsum];
  const std::vector<const LoopItem*>& loops = program.paths.at(einsum).loops;
  std::optional<RankVariableId> variable;
  for (std::size_t l = 0; l < n_loops; ++l) {
    const auto steps = loops[l]->steps.find(einsum);
    if (!loops[l]->is_spatial && steps != loops[l]->steps.end() && steps->second > 1)
      variable = walked(*loops[l], of);
  }
  std::optional<std::size_t> moved;
  for (const TensorAccess& access : of.accesses)
    for (std::size_t rank = 0; rank < access.projection.size(); ++rank) {
      if (!variable || access.is_output || access.tensor != tensor) continue;
      const std::int64_t coefficient = access.projection[rank].coefficient_of(*variable);
      if (coefficient == 0) continue;
      if (coefficient < 0 || (moved && *moved != rank)) return std::nullopt;
      moved = rank;
    }
  return moved;
}

}  // namespace sluice::referee
