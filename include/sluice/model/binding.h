#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/model/collective_cost.h"
#include "sluice/model/cost_bounds.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// A set of one Einsum's tensors: bit i = tensors_of(einsum)[i].
using TensorMask = std::uint64_t;

/// An action of a component as one Einsum sees it.
struct BoundAction {
  double energy_j = 0;
  double throughput = 0;
  double bits_per_action = 1;
};

/// One spatial dimension as one Einsum sees it.
struct BoundSpatial {
  std::int64_t fanout = 1;
  TensorMask may_reuse = 0;  ///< multicast / reduced tensors
  TensorMask reuse = 0;      ///< loops only over variables that index none of these
  double min_usage = 0;
  /// Variables of the Einsum, as bits, that constraints keep off the dimension.
  std::uint64_t excluded = 0;
};

/// coefficient · (the Einsum's variable with that index in `iteration_space`).
struct BoundTerm {
  int variable = 0;
  std::int64_t coefficient = 1;
};

/// The index range that a tile touches in one rank: 1 + slack + Σ |coefficient| · (tile size − 1).
struct BoundIndex {
  std::vector<BoundTerm> terms;
  std::int64_t constant = 0;  ///< the smallest constant of the merged accesses
  std::int64_t slack = 0;     ///< the distance to the largest one (a state's two slices: 1)
  /// in BoundEinsum::held: slices that the backing storage holds beyond that, because other Einsums
  /// touch the rank at other constants (what a step writes and what later ones still read)
  std::int64_t others = 0;
  std::int64_t rank_size = 0;  ///< in BoundEinsum::held: `others` never widen a tile beyond it
  /// in BoundEinsum::held: what the backing storage holds of the rank where no loop above cuts it:
  /// all that the Einsums touch, padding included
  std::int64_t whole = 0;
};

/// Values of a rank that backing storage holds where one Einsum alone touches `extent` of them.
std::int64_t backing_extent(const BoundIndex& index, std::int64_t extent);

/// How an Einsum touches a tensor. Accesses that differ in constants only are merged into one.
struct BoundAccess {
  int tensor = 0;  ///< index into BoundEinsum::tensors
  bool is_output = false;
  std::vector<BoundIndex> index;     ///< per rank of the tensor
  std::vector<Relevance> relevance;  ///< per variable of the Einsum
  bool leaves_ranks = false;         ///< some point reads outside a rank: padding
};

/// `keep`, `may_keep` or `back` of one component for one Einsum, as a function of what the memories
/// that the expression names were chosen to hold.
struct KeepRule {
  std::vector<ComponentId> depends_on;
  /// Value for every choice: the masks of `depends_on` side by side, the first lowest. Empty where
  /// that would be too many choices; then the expression is evaluated each time.
  std::vector<TensorMask> table;
};

/// What a constraint asks of a variable's tile at each node of these tensors in a memory.
struct TileLimit {
  std::size_t variable = 0;  ///< of the iteration space
  TensorMask tensors = 0;
  std::int64_t minimum = 1, maximum = 1;
};

/// One component as one Einsum sees it: every expression that depends on the Einsum is evaluated.
/// `keep` and `may_keep` may name outer memories and so depend on a mapping's choice: see
/// keep_sets.
struct BoundComponent {
  bool enabled = true;
  double size_bits = 0;                ///< memories: capacity of one instance
  std::vector<double> bits_per_value;  ///< per tensor of the Einsum (index as in TensorMask)
  std::vector<BoundSpatial> spatial;
  double instances = 1;   ///< in the whole machine
  int read_action = -1;   ///< index of the action `read`, -1 without one
  int write_action = -1;  ///< index of the action `write`, -1 without one
  /// `total_latency` as the maximum over linear forms of the actions' calls, where it is one
  std::optional<std::vector<std::vector<double>>> latency_rows;
  KeepRule keep, may_keep, back;
  /// What constraints ask for, and what a memory further in backs; counts more than the rules.
  TensorMask asked = 0, forbidden = 0;
  std::vector<TileLimit> tile_limits;
};

/// A network on the way to a compute.
struct PathNetwork {
  ComponentId network;
  int depth = 0;                      ///< its place on the path
  std::optional<ComponentId> fanned;  ///< the component whose instances it links, if there is one
};

/// constant + slope · E, of an energy E (J).
struct EnergyCut {
  double constant_j = 0, slope = 1;
  bool operator==(const EnergyCut&) const = default;
};

/// A compute that accepts an Einsum, with its path.
struct BoundCompute {
  ComponentId component;
  std::vector<ComponentId> path;      ///< path_to(arch, component)
  std::vector<int> depth;             ///< per ComponentId: place in `path`, -1 off the path
  std::vector<PathNetwork> networks;  ///< outermost first
  /// index into the component's actions and calls per iteration point
  std::vector<std::pair<std::size_t, std::int64_t>> calls_per_point;
  /// Relaxed machines: an Einsum that spends E on all else costs the most that these say, without
  /// leakage; empty: E.
  std::vector<EnergyCut> cuts = {};
};

/// Ids of the workload that one Einsum uses, in its own order. An Einsum has few of them, so that
/// looking through them costs less than a table of all ids, which the workload would have once per
/// Einsum.
class LocalIndices {
 public:
  void push_back(std::size_t id) { ids_.push_back(static_cast<std::uint32_t>(id)); }
  /// Its place in the Einsum's order, -1 if the Einsum does not use it.
  int operator[](std::size_t id) const {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (ids_[i] == id) return static_cast<int>(i);
    return -1;
  }

 private:
  std::vector<std::uint32_t> ids_;
};

/// An Einsum on an architecture: everything the model and the mappers need, evaluated once.
struct BoundEinsum {
  EinsumId einsum;
  std::vector<TensorId> tensors;  ///< tensors_of(einsum)
  TensorMask inputs = 0, output = 0;
  LocalIndices local_tensor;          ///< per TensorId: index into `tensors`, -1 if unused
  LocalIndices local_variable;        ///< per RankVariableId: index into the iteration space, or -1
  std::vector<BoundAccess> accesses;  ///< what is moved: inputs, then the output
  std::vector<BoundAccess> held;      ///< what a tile holds: one entry or more per tensor
  /// per tensor and variable: the strongest relevance over its accesses (partial > relevant)
  std::vector<std::vector<Relevance>> relevance;
  /// per tensor and variable: held_relevance
  std::vector<std::vector<Relevance>> held_relevance;
  std::vector<BoundComponent> components;  ///< per ComponentId
  std::vector<BoundCompute> computes;      ///< the ones that accept it; empty: nothing does
};

/// A workload bound to an architecture. Holds copies: safe to share between threads.
struct BoundProblem {
  Workload workload;
  Arch arch;
  TensorRoles roles;
  std::vector<BoundEinsum> einsums;  ///< per EinsumId
  bool shares_rows = false;          ///< an intermediate is read through an affine window
  bool holds_unlike_boxes = false;   ///< Einsums touch different boxes of some tensor
  CostBounds bounds;                 ///< of every mapping
  CollectiveAlgorithms algorithms;   ///< that collectives can name, and `auto` chooses from
  std::optional<double> area_m2;     ///< of all instances; none where no component has one

  const BoundEinsum& operator[](EinsumId id) const { return einsums[id.index()]; }
};

/// What one memory or toll must and may hold for an Einsum, given what outer memories hold.
struct KeepSets {
  TensorMask must = 0;
  TensorMask may = 0;  ///< further tensors that may be held (disjoint from `must`)
};

/// Evaluates `keep`, `may_keep` (and `back`) of `component` for an Einsum. `held[c]` = tensors that
/// component c was chosen to hold (outer components at least).
Result<KeepSets> keep_sets(const BoundProblem& problem, EinsumId einsum, ComponentId component,
                           const std::vector<TensorMask>& held);

/// `scope` with the fields of a component's actions (`n_calls`, `throughput`, `energy`,
/// `bits_per_action`), for `total_latency`. The component must outlive the scope.
ExpressionScope action_scope(const Component& component, ExpressionScope scope,
                             std::function<double(std::size_t action)> calls);

/// Evaluates every expression of the architecture for every Einsum. Diagnostics: names that nothing
/// defines, results of the wrong type, negative sizes, an Einsum that no compute accepts, sets that
/// must hold one tensor and hold more.
Result<BoundProblem> bind(
    const Workload& workload, const Arch& arch,
    const CollectiveAlgorithms& algorithms = standard_collective_algorithms());

}  // namespace sluice
