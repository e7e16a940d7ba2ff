#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/tree/nest.h"

namespace sluice {

/// The nest's own view of a loop of the mapping, or null where the nest is not below it.
const NestLoop* loop_at_node(const FlatTree& tree, const Nest& nest, const Node* node);

/// The backing storage of a tensor on the way to a compute, or null.
const NestStorage* backing_of(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                              TensorId tensor);

/// The nest of the Einsum that makes a tensor, or null.
const Nest* nest_of_maker(const BoundProblem& problem, const FlatTree& tree, TensorId tensor);

/// A spatial dimension of a component.
struct FannedDimension {
  ComponentId component;
  std::uint32_t dimension = 0;
  friend bool operator==(const FannedDimension&, const FannedDimension&) = default;
};

/// The dimension of this name on the way to a nest's compute, if there is one.
std::optional<FannedDimension> dimension_on_path(const Arch& arch, const BoundCompute& compute,
                                                 const std::string& name);

/// Instances in one dimension that the first `n_loops` loops of a nest use.
std::int64_t instances_in(const FlatTree& tree, const Nest& nest, int n_loops,
                          FannedDimension dimension);

/// Instances that take part in one dimension: those that the maker's loops above what it holds use,
/// or those of a reader, if more.
std::int64_t instances_used(const FlatTree& tree, const FlatCollective& flat, const Nest& maker,
                            FannedDimension dimension);

/// The collective that brings a tensor from its maker's layout to its readers', or null.
const FlatCollective* mover_of(const FlatTree& tree, TensorId tensor);

/// Whether a loop of this nest spreads a tensor over a dimension of the collective that brings it.
bool is_moved_between(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                      TensorId tensor, const NestLoop& loop);

/// What a pipelined split forwards of this tensor, or null.
const FlatForward* forward_of(const FlatTree& tree, TensorId tensor);

/// Whether a tensor is forwarded and the loop stands below that split: check_forwards says what it
/// may do above the tensor's node there.
bool is_forwarded_below(const FlatTree& tree, TensorId tensor, const NestLoop& loop);

}  // namespace sluice
