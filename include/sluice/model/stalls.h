#pragma once

#include <optional>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice {

/// What a stall of policy `staged` waits for (docs/model.md, "Policy `staged`").
enum class StallKind {
  kFirstFill,  ///< compulsory: the first tiles of a stage
  kLastDrain,  ///< compulsory: its last results
  kTransfers,  ///< optional: transfers of a step that take longer than what runs below
  kOverlap,    ///< optional: what busy components need beyond the stages, as under `overlap`
};

/// One cause of stalls: the transfers between two neighbours in a stage of loops.
struct StallRow {
  StallKind kind = StallKind::kOverlap;
  std::vector<EinsumId> einsums;      ///< of the stage; none with kOverlap
  std::optional<ComponentId> outer;   ///< where the tiles come from or go to
  std::optional<ComponentId> inner;   ///< the other end; a compute where no memory is below
  std::vector<ComponentId> networks;  ///< that they cross
  std::vector<TensorId> tensors;      ///< that are moved
  double times = 1;                   ///< how often the stage waits in the whole run
  double seconds = 0;                 ///< in all
};

/// Where the stalls of a mapping come from under policy `staged`, longest first: rows kFirstFill
/// and kLastDrain add up to `compulsory_stall` of the breakdown, the others to `optional_stall`.
/// Nothing for a mapping that is illegal or cannot be priced.
std::vector<StallRow> staged_stalls(const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
