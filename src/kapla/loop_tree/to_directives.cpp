#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "einsum_dims.h"
#include "sluice/kapla/loop_tree.h"

namespace sluice::kapla {
namespace {

struct CannotSay {
  std::string what;
};

/// A mapping layer by layer, from the outside in.
class DirectiveWriter {
 public:
  explicit DirectiveWriter(const BoundProblem& problem) : problem_(problem) {}

  std::vector<LayerDirectives> write(const Mapping& mapping) {
    walk(mapping.nodes, {});
    return std::move(layers_);
  }

 private:
  /// `above`: the storage nodes outside.
  void walk(const NodeList& nodes, std::vector<const sluice::Node*> above) {
    bool has_loops = false;
    for (const sluice::Node& node : nodes) {
      if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
        return add_layer(above, *compute);
      if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
        if (has_loops) throw CannotSay{"loops above a split"};
        if (split->kind != SplitKind::kSequential)
          throw CannotSay{fmt::format("a split of the kind {}", split_name(split->kind))};
        for (const NodeList& child : split->children) walk(child, above);
        return;
      }
      if (std::holds_alternative<CollectiveNode>(node.kind)) throw CannotSay{"a collective"};
      has_loops |= !std::holds_alternative<StorageNode>(node.kind);
      above.push_back(&node);
    }
  }

  void add_layer(const std::vector<const sluice::Node*>& path, const ComputeNode& compute) {
    einsum_ = &problem_.workload[compute.einsum];
    dims_.emplace(problem_.workload, *einsum_);
    tiles_.clear();
    for (const VariableRange& range : einsum_->iteration_space) tiles_.push_back(range.size);
    levels_.clear();
    loops_ = {};
    has_loops_ = false;
    for (const sluice::Node* node : path) {
      if (const auto* storage = std::get_if<StorageNode>(&node->kind))
        for (const TensorId tensor : storage->tensors) add_tensor(*storage, tensor);
      if (const auto* loop = std::get_if<TemporalNode>(&node->kind))
        if (const auto numbers = enter(loop->variables, loop->tile_shape, loop->initial_tile_shape))
          loops_.updates.push_back({*numbers, DirectivePlace{}});
      if (const auto* loop = std::get_if<SpatialNode>(&node->kind)) add_stack(*loop);
    }
    LevelDirectives& innermost = start_level(compute.component);
    for (const TensorId tensor : tensors_of(*einsum_)) innermost.tensors.push_back(box_of(tensor));
    LayerDirectives layer{einsum_->name, std::move(levels_), {}};
    std::reverse(layer.levels.begin(), layer.levels.end());
    std::map<std::string, int> seen;
    for (LevelDirectives& level : layer.levels)
      if (const int n = ++seen[level.name]; n > 1) level.name += fmt::format(".{}", n);
    layers_.push_back(std::move(layer));
  }

  /// What the loop moves; nothing where it takes one step.
  std::optional<std::vector<DimNumber>> enter(const std::vector<RankVariableId>& variables,
                                              std::int64_t tile,
                                              const std::optional<std::int64_t>& first_tile) {
    if (first_tile) throw CannotSay{"a loop with a first tile of another size"};
    for (const RankVariableId variable : variables)
      for (std::size_t v = 0; v < tiles_.size(); ++v) {
        if (einsum_->iteration_space[v].variable != variable) continue;
        if (tile >= tiles_[v]) return std::nullopt;
        outside_.push_back({v, tiles_[v]});
        tiles_[v] = tile;
        has_loops_ = true;
        return dims_->moved(v, tile);
      }
    throw CannotSay{fmt::format("a loop over {}, which {} does not use",
                                problem_.workload[variables.front()].name, einsum_->name)};
  }

  void add_stack(const SpatialNode& loop) {
    const auto numbers = enter(loop.variables, loop.tile_shape, loop.initial_tile_shape);
    if (!numbers) return;
    const std::int64_t outside = outside_.back().second;
    loops_.stacks.push_back({*numbers, (outside + loop.tile_shape - 1) / loop.tile_shape,
                             problem_.arch[loop.component].spatial.at(loop.dimension).name,
                             DirectivePlace{}});
  }

  /// Loops stand outermost first in `loops_`, and innermost first in a level.
  LevelDirectives& start_level(ComponentId component) {
    loops_.name = problem_.arch[component].name;
    std::reverse(loops_.stacks.begin(), loops_.stacks.end());
    std::reverse(loops_.updates.begin(), loops_.updates.end());
    levels_.push_back(std::move(loops_));
    loops_ = {};
    return levels_.back();
  }

  void add_tensor(const StorageNode& node, TensorId tensor) {
    if (dims_->of(tensor) == nullptr) return;
    if (!node.einsums.empty()) throw CannotSay{"a node for some of the Einsums below it"};
    if (node.over || node.along) throw CannotSay{"shares over a dimension or along a variable"};
    const bool is_inside = !levels_.empty() && loops_.stacks.empty() && loops_.updates.empty() &&
                           levels_.back().name == problem_.arch[node.component].name;
    LevelDirectives& level = is_inside ? levels_.back() : start_level(node.component);
    TensorDirective box = box_of(tensor);
    box.sharers = node.shared_by.value_or(1);
    box.whole = has_loops_ && !node.incremental && problem_.arch[node.component].is_memory();
    box.sliding = node.sliding;
    box.persistent = node.persistent;
    box.resident = node.resident;
    level.tensors.push_back(std::move(box));
  }

  TensorDirective box_of(TensorId tensor) const {
    TensorDirective box;
    box.name = problem_.workload[tensor].name;
    for (const EinsumDims::Dim& dim : *dims_->of(tensor))
      box.extents.push_back({dim.name, dim.extent(tiles_)});
    return box;
  }

  const BoundProblem& problem_;
  std::vector<LayerDirectives> layers_;
  // Of the layer at hand:
  const Einsum* einsum_ = nullptr;
  std::optional<EinsumDims> dims_;
  VariableTiles tiles_;
  std::vector<std::pair<std::size_t, std::int64_t>> outside_;  ///< of each loop: the tile around it
  std::vector<LevelDirectives> levels_;                        ///< outermost first
  LevelDirectives loops_;                                      ///< below the last of them
  bool has_loops_ = false;
};

}  // namespace

Result<std::vector<LayerDirectives>> to_directives(const Mapping& mapping,
                                                   const BoundProblem& problem) {
  try {
    return DirectiveWriter(problem).write(mapping);
  } catch (const CannotSay& it) {
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("directives cannot say {}", it.what);
    return tl::unexpected(Diagnostics{diagnostic});
  }
}

}  // namespace sluice::kapla
