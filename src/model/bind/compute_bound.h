#pragma once

#include <optional>

#include "operand_costs.h"
#include "sluice/arch/arch.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Of one Einsum on the computes that are best at each, at least.
struct ComputeBound {
  double seconds = 0, energy_j = 0;
  /// Where computes also wait for the operands that are asked for (policy `overlap`).
  double with_operands_s = 0;
};

/// Of all points of the Einsum, without operands (J).
double compute_energy(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute);

/// Of one instance, and no operands (s).
double seconds_per_point(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute);

/// With the energy of the operands that are asked for. Nothing for a copy. Where operands from
/// inside a cut are asked for, loops may spread over all that is further out.
ComputeBound compute_bound(const BoundProblem& problem, EinsumId einsum, Factors factors,
                           const std::optional<OperandQuestion>& operands);

/// How long so many calls of its action keep an instance of a component busy, at least (s): nothing
/// where that is not known.
double seconds_of(double calls, const BoundProblem& problem, EinsumId einsum, ComponentId component,
                  std::size_t action);
/// Whether a memory may be busy with reads and writes at the same time.
bool has_separate_ports(const BoundProblem& problem, EinsumId einsum, ComponentId memory);

/// Of all components that are not power-gated (W).
double leaking_power(const BoundProblem& problem);

}  // namespace sluice
