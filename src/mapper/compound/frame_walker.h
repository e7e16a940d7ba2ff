#pragma once

#include <functional>
#include <vector>

#include "group.h"
#include "nest_walker.h"

namespace sluice::compound {

/// What stands above the split of a group, and what it leaves to each Einsum.
struct Frame {
  NodeList nodes;  ///< below the root's node of the outermost memory
  ComponentId home;
  double steps = 1;  ///< of its temporal loops
  bool has_steps() const { return steps > 1; }
  std::vector<std::vector<std::int64_t>> tiles;       ///< per Einsum and variable
  std::vector<std::vector<TensorMask>> held;          ///< per Einsum and ComponentId
  std::vector<TensorMask> first;                      ///< per Einsum: NestRequest::first
  std::vector<std::vector<CollectiveNode>> complete;  ///< per Einsum: what follows its child
  std::vector<std::vector<std::string>> spread;       ///< per class: dimensions it is spread over
};

/// Where frames begin: below the outermost memory, or below a frame that stands around the group.
struct FrameStart {
  ComponentId from;                              ///< the memory above
  std::vector<TensorId> at_home;                 ///< internal tensors that home holds
  std::vector<std::int64_t> tiles;               ///< per class
  std::vector<std::vector<std::string>> spread;  ///< per class: dimensions of loops above
  std::vector<std::vector<TensorMask>> held;     ///< per Einsum and ComponentId
  NodeList nodes;                                ///< of the frames above
  double steps = 1;                              ///< of their temporal loops
  int most_loops = kUnlimitedLoops;              ///< of all frames, temporal and spatial
};

/// Loops that an Einsum shares with others at most: those above the innermost split around it.
int most_shared_loops(const NodeList& nodes);

/// Below the outermost memory, with all internal tensors at home.
FrameStart outermost_start(const BoundProblem& problem, const Group& group,
                           const std::vector<std::uint32_t>& computes);

/// Below a frame around the group, whose Einsums are those of `outer` from number `first` on.
FrameStart start_below(const BoundProblem& problem, const Group& group, const Group& outer,
                       const Frame& frame, std::size_t first);

/// Memories below `from` in which the group could exchange its tensors, outermost first; of a group
/// of one Einsum, those on its path.
std::vector<ComponentId> homes_of(const BoundProblem& problem, const Group& group,
                                  const std::vector<std::uint32_t>& computes, ComponentId from);

/// Calls `visit` for every frame until it returns false, or `go_on`, which is asked often, as there
/// may be few frames among very many; returns false if one did. `computes`: per Einsum of the
/// group, index into BoundEinsum::computes.
bool for_each_frame(const BoundProblem& problem, const Constraints& constraints, const Group& group,
                    const std::vector<std::uint32_t>& computes, const FrameStart& start,
                    ComponentId home, Effort effort, const std::function<bool()>& go_on,
                    const std::function<bool(const Frame&)>& visit);

}  // namespace sluice::compound
