#pragma once

#include <optional>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/einsum_chains.h"

namespace sluice {

/// The mapping that runs each Einsum as its chain says, one after the other; nothing where several
/// have other steps than the first node of each tensor in the outermost memory above them.
std::optional<Mapping> mapping_of(const BoundProblem& problem, const std::vector<Chain>& chains);

}  // namespace sluice
