#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/cost_bounds.h"
#include "sluice/model/latency_policy.h"

namespace sluice {

/// One line of the energy account. Rows add up to Cost::energy_j.
struct EnergyRow {
  ComponentId component;
  EinsumId einsum;
  std::optional<TensorId> tensor;  ///< none for compute and leakage
  std::string action;              ///< action name, or `leak`
  std::optional<double> count;     ///< values (memories), operations (compute); none for leakage
  std::optional<double> bits;      ///< in the component's own width; none for compute and leakage
  double actions = 0;  ///< what the energy per action multiplies (leakage: seconds × instances)
  double energy_j = 0;
  friend bool operator==(const EnergyRow&, const EnergyRow&) = default;
};

/// Busy time of one component in one Einsum (policy `overlap`).
struct LatencyRow {
  EinsumId einsum;
  ComponentId component;
  double latency_s = 0;
  friend bool operator==(const LatencyRow&, const LatencyRow&) = default;
};

/// What one tensor's transfers put on one network. `implicit`: transfers between a memory and what
/// stands below it (multicasts, gathers, reductions), not written as a node of the mapping.
struct NetworkRow {
  ComponentId component;
  EinsumId einsum;
  TensorId tensor;
  bool implicit = true;
  double volume_bits = 0;   ///< Σ over messages: what every node of the network receives or sends
  double bit_hops = 0;      ///< Σ over messages of bits × links
  double latency_hops = 0;  ///< busiest network: Σ over steps of the longest route
  friend bool operator==(const NetworkRow&, const NetworkRow&) = default;
};

/// A collective of the mapping, or what a pipelined split forwards: its time is part of the latency
/// of the Einsum that made the tensor, after everything that `LatencyRow`s say
/// (docs/collectives.md).
struct CollectiveRow {
  EinsumId einsum;
  TensorId tensor;
  std::string type;  ///< as in spec files, `all_reduce` …, or `forward`
  ComponentId memory;
  std::vector<std::string> over;
  std::string algorithm;       ///< that performs it; never `auto`
  double combined_values = 0;  ///< operations
  double latency_s = 0;
  friend bool operator==(const CollectiveRow&, const CollectiveRow&) = default;
};

struct OccupancyRow {
  ComponentId component;
  double peak_bits = 0;      ///< per instance, largest over the run
  double capacity_bits = 0;  ///< infinity where unbounded
  friend bool operator==(const OccupancyRow&, const OccupancyRow&) = default;
};

/// What a mapping costs.
struct Cost {
  double energy_j = 0;
  double latency_s = 0;
  std::optional<double> latency_cycles;  ///< where the architecture has a clock
  LatencyBreakdown breakdown;            ///< policies other than overlap: adds up to latency_s
  double leak_energy_j = 0;
  std::optional<double> area_m2;
  std::vector<EnergyRow> energy;
  std::vector<LatencyRow> latency;
  std::vector<NetworkRow> networks;
  std::vector<CollectiveRow> collectives;
  std::vector<OccupancyRow> occupancy;
  CostBounds bounds;
  std::vector<std::vector<EinsumId>> fusion_groups;
  double unpriced_merge_values =
      0;                      ///< reads for merging partial sums that the reference leaves free
  double padding_values = 0;  ///< values moved that lie outside a rank
  friend bool operator==(const Cost&, const Cost&) = default;

  double edp_js() const { return energy_j * latency_s; }
};

}  // namespace sluice
