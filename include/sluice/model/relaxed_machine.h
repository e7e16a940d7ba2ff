#pragma once

#include <optional>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

/// The memories down to which a machine can be kept as it is where all further in is relaxed,
/// outermost first: the outermost one, and others that all Einsums pass on all ways to their
/// computes, with more than one memory further in. None where the machine has no outermost memory
/// of one instance that every Einsum has.
std::vector<ComponentId> relaxation_cuts(const BoundProblem& problem);

/// The components that a relaxed machine keeps, in their order there: those on the way to `cut`.
std::vector<ComponentId> kept_components(const BoundProblem& problem, ComponentId cut);

/// What compute takes from (or hands to) memories inside the cut: per Einsum, a set of its tensors.
using InnerOperands = std::vector<TensorMask>;

/// Ways to spread an Einsum over the computes that take about as long: what they cost at least.
struct InnerWay {
  double seconds = 0;  ///< on one instance of a cut
  /// With what the memories down to a cut move, as an energy (J) of all that the Einsum moves,
  /// without networks and leakage.
  std::vector<EnergyCut> cuts;
};
/// Per Einsum, the fastest first (see InnerChains); empty where nothing is known.
using InnerWays = std::vector<std::vector<InnerWay>>;

/// The machine with what lies inside the memory `cut` made into little: below each instance of it
/// memories that cost nothing, and one compute with the least energy and time of each Einsum,
/// leakage included. There is one memory for all that may hold the same tensors' outermost tiles,
/// of the same room. Networks are left out. What a mapping with perfect factors that
/// runs one Einsum at a time moves at the kept memories, it can move there, too: the best mapping
/// costs no more than any of the real machine, if that takes the operands of `inside` from inner
/// memories (J, s; policy `overlap`). `ways`: what is known of the Einsums inside the cut: each has
/// a compute for each of its ways, whose energy the model does not know. Nothing where this machine
/// cannot be made, or where several instances may make overlapping windows of an output.
std::optional<BoundProblem> relaxed_machine(const BoundProblem& problem, ComponentId cut,
                                            const InnerOperands& inside,
                                            const InnerWays& ways = {});

/// Per Einsum and tensor: what a mapping costs more than the bounds, at least, where compute takes
/// it from (or hands it to) the cut or a memory further out (J); infinite where it cannot.
using DirectEnergies = std::vector<std::vector<double>>;
DirectEnergies direct_energies(const BoundProblem& problem, ComponentId cut);

/// Operands that cost `energy_j` (J) or more.
InnerOperands inner_operands(const DirectEnergies& energies, double energy_j);

}  // namespace sluice
