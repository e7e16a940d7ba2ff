#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// How busy times become latency (docs/model.md, "Energy and time").
enum class LatencyPolicy {
  kOverlap,   ///< an Einsum takes its slowest component's time; Einsums add up
  kPipeline,  ///< tile by tile: fills, compute and drains follow each other through the tile
              ///< buffers
};

std::string latency_policy_name(LatencyPolicy policy);
std::optional<LatencyPolicy> latency_policy_from_name(const std::string& name);
const std::vector<std::string>& latency_policy_names();

/// Where the time of a tile pipeline goes; adds up to the latency.
struct LatencyBreakdown {
  double fill_s = 0;     ///< until the first compute starts
  double compute_s = 0;  ///< while the compute side works
  double stall_s = 0;    ///< while it waits for tiles
  double drain_s = 0;    ///< after the last compute
  friend bool operator==(const LatencyBreakdown&, const LatencyBreakdown&) = default;
};

}  // namespace sluice
