#pragma once

#include <set>
#include <string>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice {

/// Some Einsums of a workload as a workload of their own. Tensors, ranks and variables are numbered
/// as they first occur, the output of each Einsum first, and named by their numbers: parts that are
/// equal but for names and ids are equal.
struct CanonicalPart {
  Workload workload;
  std::vector<TensorId> tensors;  ///< of the whole, by those of the part
  std::vector<RankId> ranks;
  std::vector<RankVariableId> variables;
};

/// Einsums [first, end); tensors whose names are in `own` keep them.
CanonicalPart canonical_part(const Workload& whole, std::size_t first, std::size_t end,
                             const std::set<std::string>& own);

/// The part with the names of the whole; its first Einsum there is `first`.
Workload with_names_of(const Workload& whole, const CanonicalPart& part, std::size_t first);

}  // namespace sluice
