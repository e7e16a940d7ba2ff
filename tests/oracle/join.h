#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/nest.h"

namespace sluice::oracle {

/// What an Einsum's nest fixes about one shared tensor: backing memory and the loops above its
/// backing node, each named by the tensor's rank. Nests of two users are compatible if these texts
/// are equal.
struct SharedTensor {
  TensorId tensor;
  std::size_t loops_above = 0;
  std::string signature;
};

/// One entry per tensor of the Einsum that other Einsums use too.
std::vector<SharedTensor> shared_tensors(const BoundProblem& problem, const Pmapping& pmapping);

/// The number of outermost loops that other Einsums can feel: those above the last backing node of
/// a shared tensor (the fused loops), and the steps of a cycle of several Einsums.
std::size_t fused_loops(const BoundProblem& problem, const Pmapping& pmapping);

/// Everything about a nest that other Einsums can feel: nests of one Einsum with equal interfaces
/// can replace each other in every full mapping.
std::string interface_key(const BoundProblem& problem, const Pmapping& pmapping);

/// The LoopTree of one nest per Einsum, whose shared tensors already agree pairwise; nothing where
/// the nests do not hang together (an Einsum between the users of a tensor that lives under a loop
/// must stand under that loop, and be tied to it by a tensor of its own).
std::optional<Mapping> join(const BoundProblem& problem, const std::vector<const Pmapping*>& nests);

}  // namespace sluice::oracle
