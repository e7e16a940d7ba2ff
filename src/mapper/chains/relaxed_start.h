#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include "einsum_search.h"
#include "mapper/sampling/fanout_use.h"
#include "mapper/sampling/map_space.h"
#include "sluice/mapper/mapper.h"

namespace sluice::chains {

/// A first mapping of a network whose Einsums exchange tensors further in: as in the best mapping
/// of a machine of few memories (see relaxed_machine.h), which is soon found, each Einsum a good
/// chain below the loops that it shares.
class RelaxedStart {
 public:
  /// `problem` must outlive it. Nothing but the memories further out than `cut` and that one are
  /// kept; below it is one with a `share` of the room of the next memory further in.
  RelaxedStart(const BoundProblem& problem, ComponentId cut, double share);

  /// Null where there is no such machine.
  const BoundProblem* machine() const { return machine_ ? &*machine_ : nullptr; }
  /// `relaxed`: of that machine. `plain`: choices that exchange all in the outermost memory, for
  /// Einsums that no chain suits. Nothing where they do not join. `cancel` may be null.
  std::optional<sampling::Genome> genome(const MappedResult& relaxed, const sampling::Genome& plain,
                                         sampling::MapSpace* space, sampling::FanoutUse* use,
                                         const std::atomic<bool>* cancel);

 private:
  struct Exchange {
    EinsumSearch::Backings backings;
    ChainSteps outermost;
  };
  class Reader;
  std::optional<ComponentId> next_memory(EinsumId einsum) const;
  ComponentId real(ComponentId component, EinsumId einsum) const;
  static void leave_inside(TensorId tensor, ComponentId outermost, Exchange* exchange);

  const BoundProblem& problem_;
  ComponentId cut_;
  std::vector<ComponentId> kept_;
  std::optional<BoundProblem> machine_;
};

}  // namespace sluice::chains
