#pragma once

#include "model/tree/nest.h"

namespace sluice {

/// Whether a nest touches the same values of a tensor in all steps of a loop, as far as they lie
/// inside the ranks: its tiles at `storage` cover every rank along which the loop moves them. The
/// steps of a window over a rank of few values may differ in padding alone.
bool covers_moved_ranks(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                        const NestLoop& loop, const NestStorage& storage);

/// Whether all Einsums touch the same range of every rank of a tensor, what lies outside left out.
bool touched_alike(const BoundProblem& problem, TensorId tensor);

/// Whether a loop of several steps that two users of a tensor share moves it through a window.
bool moves_window(const BoundProblem& problem, const FlatTree& tree, TensorId tensor);

/// Whether two Einsums touch no value of a tensor both, as the two of a recurrence of one step.
bool touch_nothing_together(const Workload& workload, TensorId tensor, EinsumId a, EinsumId b);

/// Whether a reader takes nothing of what one of several makers makes.
bool reads_other_part(const BoundProblem& problem, TensorId tensor, EinsumId maker,
                      EinsumId reader);

}  // namespace sluice
