#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// A set of one Einsum's tensors: bit i = tensors_of(einsum)[i].
using TensorMask = std::uint64_t;

/// An action of a component as one Einsum sees it.
struct BoundAction {
  double energy_j = 0;
  double throughput = 0;
  double bits_per_action = 1;
};

/// One spatial dimension as one Einsum sees it.
struct BoundSpatial {
  std::int64_t fanout = 1;
  TensorMask may_reuse = 0;  ///< multicast / reduced tensors
  TensorMask reuse = 0;      ///< loops only over variables that index none of these
  double min_usage = 0;
};

/// One component as one Einsum sees it: every expression that depends on the Einsum is evaluated.
/// `keep` and `may_keep` may name outer memories and so depend on a mapping's choice: see
/// keep_sets.
struct BoundComponent {
  bool enabled = true;
  double size_bits = 0;                ///< memories: capacity of one instance
  std::vector<double> bits_per_value;  ///< per tensor of the Einsum (index as in TensorMask)
  std::vector<BoundSpatial> spatial;
  double instances = 1;       ///< in the whole machine
  double leak_instances = 1;  ///< product of the fanouts before it (its own not counted)
};

/// A compute that accepts an Einsum, with its path.
struct BoundCompute {
  ComponentId component;
  std::vector<ComponentId> path;  ///< path_to(arch, component)
  /// index into the component's actions and calls per iteration point
  std::vector<std::pair<std::size_t, std::int64_t>> calls_per_point;
};

/// An Einsum on an architecture: everything the model and the mappers need, evaluated once.
struct BoundEinsum {
  EinsumId einsum;
  std::vector<TensorId> tensors;  ///< tensors_of(einsum)
  TensorMask inputs = 0, output = 0;
  std::vector<BoundComponent> components;  ///< per ComponentId
  std::vector<BoundCompute> computes;      ///< the ones that accept it; empty: nothing does
};

/// A workload bound to an architecture. Holds copies: safe to share between threads.
struct BoundProblem {
  Workload workload;
  Arch arch;
  TensorRoles roles;
  std::vector<BoundEinsum> einsums;  ///< per EinsumId

  const BoundEinsum& operator[](EinsumId id) const { return einsums[id.index()]; }
};

/// What one memory or toll must and may hold for an Einsum, given what outer memories hold.
struct KeepSets {
  TensorMask must = 0;
  TensorMask may = 0;  ///< further tensors that may be held (disjoint from `must`)
};

/// Evaluates `keep`, `may_keep` (and `back`) of `component` for an Einsum. `held[c]` = tensors that
/// component c was chosen to hold (outer components at least).
Result<KeepSets> keep_sets(const BoundProblem& problem, EinsumId einsum, ComponentId component,
                           const std::vector<TensorMask>& held);

/// Evaluates every expression of the architecture for every Einsum. Diagnostics: names that nothing
/// defines, results of the wrong type, negative sizes, an Einsum that no compute accepts, sets that
/// must hold one tensor and hold more.
Result<BoundProblem> bind(const Workload& workload, const Arch& arch);

}  // namespace sluice
