#pragma once

#include <cstddef>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::kapla {

/// How the shares of a tile go round.
struct Rotation {
  std::string over;
  RankVariableId along;
};

/// What the loops around a storage node say about a tile of `tensor` that `sharers` buffers share
/// there: it goes round over the nearest dimension with so many buffers that have the same of it,
/// along the variable of the first loop below, which must be temporal, take so many steps and walk
/// the tensor. Else: what is missing. `path`: the nodes of one Einsum, outermost first.
tl::expected<Rotation, std::string> rotation_of(const BoundProblem& problem, EinsumId einsum,
                                                const std::vector<const sluice::Node*>& path,
                                                std::size_t at, TensorId tensor,
                                                std::int64_t sharers);

}  // namespace sluice::kapla
