#include "sluice/mapping/node_sizes.h"

#include "mapping/held_tiles.h"

namespace sluice {
namespace {

class SizeWalk {
 public:
  SizeWalk(const Workload& workload, const HeldTiles::BitsPerValue& bits_per_value)
      : workload_(workload), tiles_(workload, bits_per_value), loops_(workload) {}

  void walk(const NodeList& nodes) {
    const EinsumsBelow below(nodes);
    const std::vector<TileSizes> outside = loops_.saved(below.order);
    for (const Node& node : nodes) {
      const std::size_t place = n_nodes_++;
      std::visit([&](const auto& kind) { add(kind, place, below); }, node.kind);
    }
    loops_.restore(below.order, outside);
  }

  std::vector<NodeSize> take() { return std::move(sizes_); }

 private:
  void add(const StorageNode& node, std::size_t place, const EinsumsBelow& below) {
    for (const TensorId tensor : node.tensors)
      if (const auto tile = tiles_.held(node, tensor, below, loops_))
        sizes_.push_back(
            {place, std::nullopt, tensor, tile->bits, named_extents(*tile, tensor, workload_)});
  }
  void add(const TemporalNode& node, std::size_t place, const EinsumsBelow& below) {
    add_loop({node.variables, node.tile_shape, node.initial_tile_shape.value_or(0)}, place, below);
  }
  void add(const SpatialNode& node, std::size_t place, const EinsumsBelow& below) {
    add_loop({node.variables, node.tile_shape, node.initial_tile_shape.value_or(0)}, place, below);
  }
  void add(const SplitNode& node, std::size_t, const EinsumsBelow&) {
    for (const NodeList& child : node.children) walk(child);
  }
  void add(const CollectiveNode&, std::size_t, const EinsumsBelow&) {}
  void add(const ComputeNode&, std::size_t, const EinsumsBelow&) {}

  void add_loop(const LoopShape& loop, std::size_t place, const EinsumsBelow& below) {
    loops_.enter(loop, below.order);
    sizes_.push_back({place, loops_.steps(), std::nullopt, 0, {}});
  }

  const Workload& workload_;
  HeldTiles tiles_;
  LoopTiles loops_;  ///< on the way down
  std::size_t n_nodes_ = 0;
  std::vector<NodeSize> sizes_;
};

}  // namespace

std::vector<NodeSize> node_sizes(
    const Mapping& mapping, const Workload& workload,
    const std::function<double(EinsumId, TensorId, ComponentId)>& bits_per_value) {
  SizeWalk walk(workload, bits_per_value);
  walk.walk(mapping.nodes);
  return walk.take();
}

}  // namespace sluice
