#pragma once

#include <optional>
#include <vector>

#include "referee/points/points.h"
#include "referee/program/program.h"

namespace sluice::referee {

/// The one rank along which a tile has moved, forwards; none if there is no such rank.
std::optional<std::size_t> rank_of_move(const std::vector<IndexBox>& before,
                                        const std::vector<IndexBox>& now);

/// The rank along which the innermost temporal loop among the first `n_loops` above an Einsum's
/// compute moves what it reads of a tensor, forwards; none if it moves it otherwise or not at all.
std::optional<std::size_t> rank_of_innermost(const Workload& workload, const Program& program,
                                             EinsumId einsum, TensorId tensor, std::size_t n_loops);

}  // namespace sluice::referee
