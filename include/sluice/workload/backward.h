#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// What follows the gradients of a training step.
enum class Optimizer : std::uint8_t { kNone, kSgd, kAdam };

struct BackwardOptions {
  /// Inputs of the workload whose gradients are asked for. Empty: all but those that differ from
  /// sample to sample, which have the outermost rank of the input that is read first (if all have
  /// it: all), and those in a role `constant` (tables of rotations).
  std::vector<std::string> gradients_of;
  /// Intermediates that are made again before the backward pass reads them, rather than kept.
  /// `all`: every one whose maker reads something.
  std::vector<std::string> recompute;
  Optimizer optimizer = Optimizer::kNone;
};

/// A training step of a workload: its Einsums, then those that make the gradients, then the
/// optimizer's.
///
/// Reverse-mode differentiation, Einsum by Einsum: of Y[o] = Σ f(A[a], B[b], …) each operand that
/// matters gets grad_A[a] = Σ grad_Y[o] · ∂f/∂A, an Einsum with the same iteration space in which A
/// and Y have changed places. The gradient of an output Y of the workload is an input, `grad_Y`.
/// - Padding gets no gradient: what is written outside a rank is dropped. Elements that no one
///   reads have gradient 0.
/// - Tensors with several readers get the sum of what comes from each (`grad_A_from_READER`).
/// - A maximum or minimum passes on to every element that equals it. A product (`prod`) divides by
///   its terms: its gradient is no number where one is 0.
/// - A recurrence T[i+1] = f(T[i]), also through several Einsums, is walked backwards, by a
///   recurrence of its own (`grad_T_passed`).
/// - Of a tensor that several Einsums make in parts, each gets its part of the gradient.
/// - Operations on stored values: the result of exp, tanh, … is read, not computed again.
///
/// Errors name the tensor: unknown names in the options, gradients of what no result depends on,
/// recurrences that reach further back than one step (docs/refusals.md).
Result<Workload> derive_backward(const Workload& forward, const BackwardOptions& options = {});

/// The name of a tensor's gradient, `grad_T`.
std::string gradient_name(const std::string& tensor);

}  // namespace sluice
