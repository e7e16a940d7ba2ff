#pragma once

#include "fanout_use.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Whether the memory must (may) hold a tensor for an Einsum, whatever inner memories hold.
struct Hold {
  bool must = false, may = true;
};
Hold hold_of(const BoundProblem& problem, EinsumId einsum, ComponentId memory, TensorId tensor);

/// Whose energy is asked for.
struct OperandQuestion {
  Factors factors = Factors::kAny;
  ComponentId outermost;
  /// None: of all operands, where of those from the outermost memory the first reading (or writing)
  /// of each value is left out, its compulsory traffic. Else of these alone, from memories further
  /// in.
  const TensorMask* inside = nullptr;
  /// Where `inside` is given: the last memory that is not further in.
  ComponentId cut{};
};

/// What the compute takes from, or hands to, the innermost memories of an Einsum's tensors, at
/// least (J): a value for each point, or for all points that run at the same time, touch the same
/// value, and lie below one instance of the memory. Of memories that may be the innermost one the
/// cheapest. With perfect factors all operands see the same spatial loops. Only tensors of
/// `tensors` that the Einsum touches in one way, within their ranks.
double operand_energy(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                      const OperandQuestion& question, TensorMask tensors = ~TensorMask{0});

/// What an Einsum costs more than its bound, at least, where a tensor is read (or written) straight
/// from the memory `cut` or one further out (J); infinite where the compute cannot, 0 where it is
/// not known.
double direct_energy(const BoundProblem& problem, EinsumId einsum, int tensor,
                     ComponentId outermost, ComponentId cut);

}  // namespace sluice
