#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "mapper/shape/einsum_shape.h"
#include "sluice/mapper/constraints.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {

/// A place where one memory holds one tensor of an Einsum.
struct Slot {
  ComponentId component{};
  std::uint32_t tensor = 0;  ///< local index
  std::uint32_t gap = 0;     ///< loops of smaller gaps stand above it
  bool backing = false;
  bool shared = false;  ///< backing node of a shared tensor: part of the compatibility
  bool persistent = false;
  /// Index of the partially relevant loop that a sliding window passes, or -1.
  std::int32_t sliding_loop = -1;
  /// Index of a loop of a later gap that the nodes below slide over and this one, for which it is
  /// fully relevant, sinks through; or -1.
  std::int32_t sunk_loop = -1;

  /// The loop of its own or a later gap that its node is written below, or -1.
  std::int32_t loop_above_node() const { return std::max(sliding_loop, sunk_loop); }
  bool operator==(const Slot&) const = default;
};

/// A place where a loop over one variable may stand; a trip count of 1 means that it is absent.
struct LoopPlace {
  std::uint32_t variable = 0;  ///< local index
  std::uint32_t gap = 0;       ///< gap g lies below slot group g
  bool spatial = false;
  bool fused = false;  ///< above the last backing node of a shared tensor
  /// Fully relevant to the non-backing node above: pointless unless another loop of the gap, which
  /// leads, is in between.
  bool late = false;
  /// Where each step of a node waits on a network, or folds an array: as `late`, of an unfused gap,
  /// but any other loop of the gap above it will do (stops_nodes, is_redundant).
  bool stopped = false;
  /// Always there, directly below the node above, with at least one late loop of its gap below it.
  bool leads = false;
  /// Over all steps of a recurrence whose tensors are backed above it: outermost, shared, but no
  /// fused loop to the limits on these.
  bool steps = false;
  /// Loops of one gap stand in the order of their blocks (constrained loop orders).
  std::uint32_t block = 0;
  ComponentId component{};  ///< spatial: the fanned-out component
  std::uint32_t dimension = 0;
  bool operator==(const LoopPlace&) const = default;
};

struct Item {
  bool is_loop = false;
  std::uint32_t index = 0;  ///< into Template::slots or Template::loops
  bool operator==(const Item&) const = default;
};

/// Data placement and dataflow of one Einsum, tile shapes open: slots and loop places, outermost
/// first.
struct Template {
  std::uint32_t compute = 0;  ///< index into BoundEinsum::computes
  /// Templates with equal numbers have the same compute and slots in the same order (apart from
  /// sliding): only their loop places differ.
  std::uint32_t placement = 0;
  /// Gap 0 is for loops over instances of the outermost memory, above its nodes (of gap 1).
  bool ports = false;
  std::vector<Slot> slots;
  std::vector<LoopPlace> loops;
  std::vector<Item> items;
  bool operator==(const Template&) const = default;
};

/// Whether some template of a placement (all are compared in how they use the fanouts) has a loop
/// over a dimension.
bool may_spread_over(const std::vector<Template>& templates, std::uint32_t placement,
                     ComponentId component, std::uint32_t dimension);

/// Whether a loop, if it runs, keeps the nodes above its gap from sinking through those below it.
bool stops_nodes(const Template& templ, std::size_t loop);

/// Whether the nodes above a loop's gap would sink through it, were it to run, as no loop of the
/// gap that runs above it stops them: the same nest is another template's.
bool lets_sink(const Template& templ, const std::vector<std::int64_t>& trips, std::size_t loop);

/// Whether tiles below a loop are reserved twice.
inline bool is_double_buffered(const Component& component) {
  return component.is_memory() && std::get<Memory>(component.kind).buffering == Buffering::kDouble;
}

/// How far to enumerate templates.
struct TemplateLimits {
  const std::atomic<bool>* cancel = nullptr;  ///< once it is set, what is left is left out
  /// Of an Einsum about so many, some for each choice of what memories keep: for mappers that draw.
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::uint64_t seed = 0;  ///< which ones are drawn
  /// No more are looked for, and TemplateLists none of further Einsums, once there are so many.
  std::size_t cap = std::numeric_limits<std::size_t>::max();
  /// The same, of all lists of TemplateLists.
  std::size_t cap_of_all = std::numeric_limits<std::size_t>::max();
};

/// All templates of an Einsum: compute × kept tensors × storage order × loop places. Redundant loop
/// places are left out by rules that keep the optimum: a non-backing node is never above a fully
/// relevant loop, and never directly below an irrelevant unfused one (FFM §6.1). Nor are there
/// copies that no loop can reuse, or several orders of nodes that all loops move, or of a toll's.
std::vector<Template> enumerate_templates(const BoundProblem& problem, const EinsumShape& shape,
                                          const MapperOptions& options,
                                          const Constraints& constraints,
                                          const TemplateLimits& limits = {});

/// The templates of one compute (index into BoundEinsum::computes) with these nodes, outermost
/// first; of each, what its place follows from (Slot::gap, shared, backing) need not be known.
std::vector<Template> templates_of_nodes(const BoundProblem& problem, const EinsumShape& shape,
                                         const MapperOptions& options, std::uint32_t compute,
                                         const std::vector<Slot>& nodes,
                                         const TemplateLimits& limits);

}  // namespace sluice::fused
