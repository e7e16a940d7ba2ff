#pragma once

#include <optional>
#include <string>

#include "workload/gradient_writer.h"

namespace sluice {

/// Why a recurrence has no gradient, and the Einsum of it that has no rule.
struct RecurrenceRefusal {
  std::string why;
  EinsumId einsum;
};

/// Gradients of all that the Einsums of a recurrence make, by a recurrence of their own that walks
/// the steps backwards. Every operand T that an Einsum of the recurrence reads from it gets
/// `grad_T_passed`: what that Einsum passes back in each step. Slot j of it is for the slice that
/// is j before the last one; added to what else reads a slice (`grad_T_given`), it is the slice's
/// gradient, and what the step before starts from.
///
/// Nothing, or why not: a recurrence whose Einsums do not read `T[i]` or `T[i+1]` to
/// make `T[i+1]` has no rule.
std::optional<RecurrenceRefusal> walk_recurrence_back(GradientWriter* writer,
                                                      const RecurrenceCycle& cycle);

}  // namespace sluice
