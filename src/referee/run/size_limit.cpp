#include <fmt/format.h>

#include "referee/points/points.h"
#include "sluice/referee/execute.h"
#include "sluice/support/machine_memory.h"

namespace sluice {
namespace {

/// What a run takes, about: per value of a tensor its numbers (as run, as defined, as a result),
/// its place in two buffers and what became of it; per point whether it was computed, and, of an
/// Einsum that reads what depends on it, its number.
double bytes_needed(const Workload& workload) {
  constexpr double kPerValue = 150, kPerPoint = 0.125, kPerPointOfState = 16;
  double bytes = 0;
  for (const referee::TensorReach& reach : referee::PointMap::reaches(workload)) {
    double values = 1;
    for (const referee::Range& range : reach.ranges()) values *= static_cast<double>(range.size);
    bytes += kPerValue * values;
  }
  for (std::size_t e = 0; e < workload.einsums.size(); ++e) {
    double points = 1;
    bool reads_state = false;
    for (const VariableRange& range : workload.einsums[e].iteration_space)
      points *= static_cast<double>(range.size);
    for (std::size_t later = e; later < workload.einsums.size(); ++later)
      for (const TensorAccess& access : workload.einsums[e].accesses)
        reads_state = reads_state || (!access.is_output &&
                                      access.tensor == workload.einsums[later].output().tensor);
    bytes += points * (kPerPoint + (reads_state ? kPerPointOfState : 0));
  }
  return bytes;
}

}  // namespace

std::optional<std::string> too_large_to_execute(const Workload& workload, double max_bytes) {
  constexpr double kGigabyte = 1e9;
  const double needed = bytes_needed(workload);
  const double allowed = max_bytes > 0 ? max_bytes : bytes_of_machine() / 2;
  if (needed <= allowed) return std::nullopt;
  return fmt::format(
      "To run the workload takes about {:.2g} GB for its values and points; {:.2g} GB may be "
      "used{}.",
      needed / kGigabyte, allowed / kGigabyte,
      max_bytes > 0 ? "" : ", half of this machine's memory");
}

}  // namespace sluice
