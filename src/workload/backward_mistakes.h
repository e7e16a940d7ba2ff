#pragma once

#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/support/diagnostic.h"
#include "sluice/workload/backward.h"

namespace sluice {

/// Why there is no training step, and which Einsum of the forward pass that is about; none where it
/// is about an option alone.
struct BackwardMistake {
  Diagnostic diagnostic;
  std::optional<EinsumId> einsum;
};

/// As derive_backward, for those who know where the Einsums stand.
tl::expected<Workload, std::vector<BackwardMistake>> derive_backward_located(
    const Workload& forward, const BackwardOptions& options);

}  // namespace sluice
