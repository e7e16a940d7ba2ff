#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "block_loops.h"
#include "einsum_dims.h"
#include "rotation_of.h"
#include "sluice/arch/outermost_memory.h"
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
    const bool is_used = std::any_of(layers_.begin(), layers_.end(), [&](const auto& layer) {
      return find_level(layer, outermost().name) != nullptr;
    });
    if (!is_used) throw CannotSay{fmt::format("that nothing is in {}", outermost().name)};
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
    backed_.clear();
    is_below_one_step_ = false;
    for (std::size_t place = 0; place < path.size(); ++place) {
      const sluice::Node* node = path[place];
      if (const auto* storage = std::get_if<StorageNode>(&node->kind))
        for (const TensorId tensor : storage->tensors) {
          if (storage->shared_by && dims_->of(tensor) != nullptr)
            check_rotation(*storage, tensor, compute.einsum, path, place);
          add_tensor(*storage, tensor);
        }
      if (const auto* loop = std::get_if<TemporalNode>(&node->kind))
        if (const auto numbers = enter(loop->variables, loop->tile_shape, loop->initial_tile_shape))
          add_update(*numbers);
      if (const auto* loop = std::get_if<SpatialNode>(&node->kind)) add_stack(*loop);
    }
    LevelDirectives& innermost = start_level(compute.component);
    for (const TensorId tensor : tensors_of(*einsum_)) innermost.tensors.push_back(box_of(tensor));
    gather_outermost();
    LayerDirectives layer{einsum_->name, std::move(levels_), {}};
    std::reverse(layer.levels.begin(), layer.levels.end());
    std::map<std::string, int> seen;
    for (LevelDirectives& level : layer.levels)
      if (const int n = ++seen[level.name]; n > 1) level.name += fmt::format(".{}", n);
    layers_.push_back(std::move(layer));
  }

  /// Above all loops, what the outermost memory holds stands first, whatever order the nodes have:
  /// there it comes back.
  void gather_outermost() {
    const auto has_loops = [](const LevelDirectives& level) {
      return !level.stacks.empty() || !level.updates.empty();
    };
    const auto end = std::find_if(levels_.begin(), levels_.end(), has_loops);
    const auto is_outermost = [&](const LevelDirectives& level) {
      return level.name == outermost().name;
    };
    std::stable_partition(levels_.begin(), end, is_outermost);
    std::vector<LevelDirectives> joined;
    for (LevelDirectives& level : levels_) {
      if (joined.empty() || has_loops(level) || joined.back().name != level.name)
        joined.push_back(std::move(level));
      else
        joined.back().tensors.insert(joined.back().tensors.end(), level.tensors.begin(),
                                     level.tensors.end());
    }
    levels_ = std::move(joined);
  }

  const Component& outermost() const { return problem_.arch[*outermost_memory(problem_.arch)]; }

  /// What the loop moves; nothing where it takes one step.
  std::optional<std::vector<DimNumber>> enter(const std::vector<RankVariableId>& variables,
                                              std::int64_t tile,
                                              const std::optional<std::int64_t>& first_tile) {
    if (first_tile) throw CannotSay{"a loop with a first tile of another size"};
    for (const RankVariableId variable : variables)
      for (std::size_t v = 0; v < tiles_.size(); ++v) {
        if (einsum_->iteration_space[v].variable != variable) continue;
        is_below_one_step_ = tile >= tiles_[v];
        if (is_below_one_step_) return std::nullopt;
        outside_.push_back({v, tiles_[v]});
        tiles_[v] = tile;
        return dims_->moved(v, tile);
      }
    throw CannotSay{fmt::format("a loop over {}, which {} does not use",
                                problem_.workload[variables.front()].name, einsum_->name)};
  }

  void add_update(const std::vector<DimNumber>& numbers) {
    loops_.updates.push_back({numbers, DirectivePlace{}});
    updates_.push_back({outside_.back().first, tiles_[outside_.back().first], 1, false, "", {}});
    is_stack_.push_back(false);
  }

  void add_stack(const SpatialNode& loop) {
    const auto numbers = enter(loop.variables, loop.tile_shape, loop.initial_tile_shape);
    if (!numbers) return;
    const auto [variable, outside] = outside_.back();
    stacks_.push_back({variable, loop.tile_shape, 1, true, "", {}});
    is_stack_.push_back(true);
    loops_.stacks.push_back({*numbers, (outside + loop.tile_shape - 1) / loop.tile_shape,
                             problem_.arch[loop.component].spatial.at(loop.dimension).name,
                             DirectivePlace{}});
  }

  /// Loops stand outermost first in `loops_`, and innermost first in a level.
  LevelDirectives& start_level(ComponentId component) {
    if (has_networks() && nest_order(updates_, stacks_) != is_stack_)
      throw CannotSay{"spatial loops above temporal ones, where a network depends on it"};
    updates_.clear();
    stacks_.clear();
    is_stack_.clear();
    loops_.name = problem_.arch[component].name;
    std::reverse(loops_.stacks.begin(), loops_.stacks.end());
    std::reverse(loops_.updates.begin(), loops_.updates.end());
    levels_.push_back(std::move(loops_));
    loops_ = {};
    return levels_.back();
  }

  bool has_networks() const {
    const auto& components = problem_.arch.components;
    return std::any_of(components.begin(), components.end(), [](const Component& component) {
      return std::holds_alternative<Network>(component.kind);
    });
  }

  /// The loops must tell what the text does not.
  void check_rotation(const StorageNode& node, TensorId tensor, EinsumId einsum,
                      const std::vector<const sluice::Node*>& path, std::size_t place) const {
    if (*node.shared_by == 1) throw CannotSay{"shares of one buffer"};
    const auto told = rotation_of(problem_, einsum, path, place, tensor, *node.shared_by);
    if (!told || node.over != told->over || node.along != told->along || node.incremental)
      throw CannotSay{"shares that do not go round as the loops around them tell"};
  }

  void add_tensor(const StorageNode& node, TensorId tensor) {
    if (dims_->of(tensor) == nullptr) return;
    if (!node.einsums.empty()) throw CannotSay{"a node for some of the Einsums below it"};
    const bool is_inside = !levels_.empty() && loops_.stacks.empty() && loops_.updates.empty() &&
                           levels_.back().name == problem_.arch[node.component].name;
    LevelDirectives& level = is_inside ? levels_.back() : start_level(node.component);
    if (node.sliding && is_below_one_step_)
      throw CannotSay{"a sliding node below a loop of one step"};
    TensorDirective box = box_of(tensor);
    box.sharers = node.shared_by.value_or(1);
    const bool is_memory = problem_.arch[node.component].is_memory();
    if (!is_memory && einsum_->is_copy_operation) throw CannotSay{"a copy Einsum behind a toll"};
    const bool is_backing = is_memory && backed_.insert(tensor).second;
    box.whole = is_memory && !is_backing && !node.incremental && box.sharers == 1;
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
  std::vector<BlockLoop> updates_, stacks_;                    ///< the same
  std::vector<bool> is_stack_;                                 ///< in their order
  std::set<TensorId> backed_;
  bool is_below_one_step_ = false;  ///< the loop right above takes one step
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
