#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice {

/// A run of consecutive Einsums of a workload: a layer of a network.
struct Layer {
  std::size_t first = 0, end = 0;         ///< Einsums [first, end)
  std::size_t shape = 0;                  ///< index into LayerGraph::shapes
  std::vector<TensorId> tensors;          ///< of the workload, by the shape's TensorId
  std::vector<RankVariableId> variables;  ///< of the workload, by the shape's RankVariableId
  std::vector<std::size_t> previous;      ///< layers that make what it reads, ascending
};

/// What equal layers have in common.
struct LayerShape {
  /// A layer alone, as a workload; names are those of the first layer of this shape.
  Workload workload;
  /// By its TensorId: whether other layers make or use the tensor, too (those of the first layer).
  std::vector<bool> crosses;
  std::size_t first_layer = 0;
  std::size_t n_layers = 0;
};

/// A tensor that layers exchange, from the first layer that uses it to the last.
struct Lifetime {
  TensorId tensor;
  std::size_t first_layer = 0, last_layer = 0;
};

/// A workload as a directed graph of layers, in execution order. Layers of one *canonical shape*
/// are equal but for names: the same operations on tensors of the same sizes, bits and roles,
/// connected in the same way, of which the same ones are exchanged with other layers. What holds
/// for one of them (mappings, costs) holds for all.
struct LayerGraph {
  std::vector<Layer> layers;
  std::vector<LayerShape> shapes;
  std::vector<Lifetime> lifetimes;  ///< of all tensors that several layers use
};

/// `starts`: the first Einsum of each layer, ascending, the first one 0. Names of tensors in `own`
/// mean something by themselves (expressions of an architecture name them): layers whose tensors
/// have different ones of these names differ.
LayerGraph layer_graph(const Workload& workload, const std::vector<std::size_t>& starts,
                       const std::set<std::string>& own = {});

/// Where layers begin: runs of Einsums that repeat are layers (several repetitions together, where
/// they have at most 8 Einsums); what does not repeat is cut where the fewest bits cross, into
/// layers of at most 48 Einsums, of which each with windows counts for six. What has no more of
/// them, and repeats in less than half of it, is one layer. Einsums of a recurrence stay together.
std::vector<std::size_t> layer_starts(const Workload& workload,
                                      const std::set<std::string>& own = {});

}  // namespace sluice
