#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// A spatial dimension of a component.
struct FannedDimension {
  ComponentId component;
  std::uint32_t dimension = 0;
  friend bool operator==(const FannedDimension&, const FannedDimension&) = default;
};

/// Instances in one dimension that the first `n_loops` loops of a nest use.
std::int64_t instances_in(const FlatTree& tree, const Nest& nest, int n_loops,
                          FannedDimension dimension);

/// Instances that take part in one dimension: those that the maker's loops above what it holds use,
/// or those of a reader, if more.
std::int64_t instances_used(const FlatTree& tree, const FlatCollective& flat, const Nest& maker,
                            FannedDimension dimension);

/// The dimension of this name on the way to a nest's compute, if there is one.
std::optional<FannedDimension> dimension_on_path(const Arch& arch, const BoundCompute& compute,
                                                 const std::string& name);

/// The nest of the Einsum that makes a tensor, or null.
const Nest* nest_of_maker(const BoundProblem& problem, const FlatTree& tree, TensorId tensor);

/// Whether this loop spreads the reduction that makes a tensor over instances with a backing node
/// each: every instance holds a partial copy, and a collective must complete it (check_collectives
/// says so where there is none).
bool is_spread_reduction(const BoundProblem& problem, const FlatTree& tree, TensorId tensor,
                         const Node* loop);

/// The collective that brings a tensor from its maker's layout to its readers', or null.
const FlatCollective* mover_of(const FlatTree& tree, TensorId tensor);

/// Whether a loop of this nest spreads a tensor over a dimension of the collective that brings it.
bool is_moved_between(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                      TensorId tensor, const NestLoop& loop);

/// Checks every collective (participants, networks, place among the children of its split), and
/// that every spread reduction has one.
void check_collectives(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
