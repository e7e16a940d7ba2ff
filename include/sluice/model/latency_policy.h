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
  kStaged,    ///< stage by stage, with compulsory and optional stalls (COMET, eq. 1 to 7)
};

std::string latency_policy_name(LatencyPolicy policy);
std::optional<LatencyPolicy> latency_policy_from_name(const std::string& name);
const std::vector<std::string>& latency_policy_names();

/// A share of the latency: `fill`, `compute`, `stall`, `drain` under `pipeline`; `compute`, `simd`,
/// `compulsory_stall`, `optional_stall`, `collectives`, `conflicts` under `staged`.
struct LatencyPart {
  std::string name;
  double seconds = 0;
  friend bool operator==(const LatencyPart&, const LatencyPart&) = default;
};

/// Where the time goes; adds up to the latency. Empty under `overlap`.
using LatencyBreakdown = std::vector<LatencyPart>;

}  // namespace sluice
