#pragma once

#include <optional>
#include <vector>

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"
#include "sluice/network/layer_graph.h"

namespace sluice {

/// Per TensorId of a workload: the memory where layers exchange the tensor, where that is not the
/// outermost one, which may not hold it.
using InnerHomes = std::vector<std::optional<ComponentId>>;

/// Where layers exchange what they exchange: in the outermost memory, and what that may not hold
/// whole in the first one further in that may.
class Homes {
 public:
  /// Splits shapes of `graph` whose layers have different homes.
  Homes(const BoundProblem& problem, LayerGraph* graph);

  const InnerHomes& inner() const { return inner_; }

  /// What a shape's layer, bound alone, must do so that layers agree on homes.
  void constrain(std::size_t shape, const BoundProblem& part, Constraints* constraints) const;
  /// Leaves out the room of what is there though a shape's layer alone does not show it.
  void reserve(std::size_t shape, BoundProblem* part) const;

 private:
  void find_crossing();
  void find_inner();
  void split_shapes();

  const BoundProblem& problem_;
  LayerGraph& graph_;
  /// Per shape and its TensorId: whether one of its layers exchanges the tensor.
  std::vector<std::vector<bool>> crosses_;
  InnerHomes inner_;
};

}  // namespace sluice
