#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "template.h"

namespace sluice::fused {

/// A loop above the backing node of a shared tensor, in one Einsum's local indices.
struct FusedLoop {
  std::uint32_t variable = 0;
  bool spatial = false;
  ComponentId component{};
  std::uint32_t dimension = 0;
  std::int64_t trips = 1;
  /// of the variable, inside the loop; of rows (row_loops.h): `shared_rows`, which all Einsums
  /// under the loop agree on
  std::int64_t tile = 1;
  /// local tensors (by bit) of which the Einsum keeps a copy above the loop: who makes or reads
  /// them under the same loop would not see what it does
  std::uint64_t copied_above = 0;
  bool operator==(const FusedLoop&) const = default;
};

/// Where a shared tensor is backed.
struct Backing {
  std::uint32_t tensor = 0;  ///< local index
  ComponentId component{};
  std::uint32_t level = 0;  ///< number of fused loops above it
  double bits = 0;          ///< its reservation
  bool persistent = false;
  /// which of its tensor's `kept_copies` (by bit) are backed in the same memory: its tile lies in
  /// their room, and `bits` is what goes beyond
  std::uint32_t kept_by = 0;
  /// The fused loop (by index) from one step of which to the next it carries values, so that its
  /// reservation stands above it; or -1.
  std::int32_t carried_by = -1;
  bool operator==(const Backing&) const = default;
};

/// What two pmappings must agree on to be joined (FFM §4): fused loops and backings. Loops between
/// two stops (places of storage nodes) may be permuted.
struct Compatibility {
  std::vector<FusedLoop> loops;   ///< outermost first, trip counts above 1
  std::vector<bool> stop_before;  ///< per loop: a storage node stands directly above it
  std::vector<Backing> backings;  ///< ascending by tensor, every shared tensor of the Einsum
  bool operator==(const Compatibility&) const = default;
};

/// A memory whose occupancy must be followed across Einsums.
struct TrackedMemory {
  ComponentId component;
  double size_bits = 0;
};

/// Partial mappings of one Einsum with one compatibility. `values` points to `stride` numbers each:
/// energy, latency, then per tracked memory the private reservation at level 0 … n_loops (the last
/// includes everything below), then per tracked memory the persistent reservation. The numbers live
/// in the table.
struct PmappingGroup {
  std::shared_ptr<const Compatibility> compatibility;  ///< of all copies of the group
  std::size_t stride = 0, count = 0;
  const double* values = nullptr;
  const std::uint32_t* templates = nullptr;    ///< per pmapping
  const std::uint32_t* first_state = nullptr;  ///< per pmapping: index into the table's `states`
  std::size_t size() const { return count; }
  const double* value(std::size_t i) const { return values + i * stride; }
};

/// Why an Einsum has no pmapping: the memory (or fanout) that is exceeded by the least.
struct ClosestMiss {
  bool known = false;
  ComponentId component{};
  double excess_bits = 0;
  double needed_bits = 0;
};

/// All pmappings of one Einsum worth joining.
struct PmappingTable {
  std::vector<Template> templates;
  std::vector<PmappingGroup> groups;
  std::deque<std::vector<double>> values;          ///< of the groups, in chunks
  std::deque<std::vector<std::uint32_t>> numbers;  ///< their templates and first states, in chunks
  std::vector<std::uint32_t> states;               ///< of each class, pmapping after pmapping
  double considered = 0;                           ///< tile-shape choices covered
  double evaluated = 0;                            ///< tile-shape choices priced
  double kept = 0;
  ClosestMiss miss;
};

}  // namespace sluice::fused
