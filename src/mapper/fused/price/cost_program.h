#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "loop_set.h"
#include "mapper/fused/states/loop_classes.h"
#include "mapper/space/pmapping.h"

namespace sluice::fused {

/// A loop that runs just so often.
struct FixedLoop {
  std::uint32_t loop = 0;  ///< number of a class loop
  std::int64_t trips = 1;
  bool operator==(const FixedLoop&) const = default;
};

/// A product over variable classes: the volume of a slot's tile (if any) times the trip counts of
/// some loops. Every count of a template is a signed sum of such products.
/// Where windows move an output's tile, the class's factor is what its tiles cover (seen_factor.h).
struct Monomial {
  std::int32_t slot = -1;  ///< a tile at this slot, or -1: no volume
  /// which tile: index into BoundEinsum::accesses, or past them into BoundEinsum::held
  std::uint32_t access = 0;
  LoopSet extra_above = {};  ///< loops below the slot that count as above it (sliding window)
  LoopSet loops = {};        ///< class loops whose trip counts multiply
  LoopSet united = {};       ///< class loops of whose steps an output's tile sees a value once
  bool still = false;        ///< 0 where a temporal loop above the tile has several trips
  std::vector<FixedLoop> fixed = {};  ///< 0 where one of these has other trips
  bool operator==(const Monomial&) const = default;
};

struct RowTerm {
  std::uint32_t monomial;
  double coefficient;
};

/// constant + Σ coefficient · monomial
struct Row {
  double constant = 0;
  std::vector<RowTerm> terms;
};

/// A row that must not exceed a limit (capacity of one memory instance, a fanout).
struct LimitRow {
  Row row;
  double limit = 0;
  ComponentId component{};
};

/// Private reservations of one tracked memory, by gap of their slots (gap 0 … last fused gap, and
/// one for everything below), in bits.
struct SegmentRow {
  std::uint32_t tracked = 0;  ///< index into tracked memories
  std::uint32_t gap = 0;
  std::int32_t sunk_below = -1;  ///< fused loop place below which they take effect, or -1
  /// Variables (by bit) whose fused loops carry the values from step to step: the reservation
  /// stands above these.
  std::uint64_t carried_by = 0;
  Row row;
};

/// What an Einsum costs that spends so much by the row of energy (J), without leakage.
inline double cut(const std::vector<EnergyCut>& cuts, double energy_j) {
  if (cuts.empty()) return energy_j;
  double most = 0;
  for (const EnergyCut& own : cuts) most = std::max(most, own.constant_j + own.slope * energy_j);
  return most;
}

/// Everything that is computed of a tile-shape choice of one template.
struct CostProgram {
  std::vector<Monomial> monomials;
  Row energy;                   ///< J, without leakage
  std::vector<EnergyCut> cuts;  ///< of that energy; empty: it is what it is
  double leak_w = 0;            ///< J per second of this Einsum's latency
  std::vector<Row> latency;     ///< s; the Einsum's latency is their maximum
  std::vector<LimitRow> limits;
  std::vector<SegmentRow> segments;
  std::vector<Row> persistent;  ///< per tracked memory: bits held for the whole run
  bool monotone = true;         ///< false: some latency formula is not a maximum of linear forms
};

/// Compiles a template. Counts as in model.md, "Tiles and traffic". Once `cancel` (may be null) is
/// set, routes are left out.
CostProgram compile(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<VariableClass>& classes,
                    const std::vector<TrackedMemory>& tracked,
                    const std::vector<bool>& unlimited /* per component: never binds */,
                    const std::atomic<bool>* cancel = nullptr);

}  // namespace sluice::fused
