#include "layer_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "block_loops.h"
#include "einsum_dims.h"
#include "rotation_of.h"

namespace sluice::kapla {
namespace {

/// The nodes of one layer, from the outermost level inwards.
class LayerReader {
 public:
  /// `backed`: tensors that stand in the outermost memory.
  LayerReader(const BoundProblem& problem, EinsumId einsum, const LayerDirectives& layer,
              std::set<TensorId> backed)
      : problem_(problem),
        einsum_(einsum),
        layer_(layer),
        dims_(problem.workload, problem.workload[einsum]),
        backed_(std::move(backed)) {
    for (const VariableRange& range : space()) tiles_.push_back(range.size);
  }

  PlacedNodes read() {
    for (auto level = layer_.levels.rbegin(); level != layer_.levels.rend(); ++level) {
      if (compute_) fail(layer_.levels[0].place, "a level stands inside a compute", "");
      add_level(*level);
    }
    for (std::size_t v = 0; v < tiles_.size(); ++v)
      if (tiles_[v] > 1) add({TemporalNode{{space()[v].variable}, 1, std::nullopt}}, layer_.place);
    if (!compute_) compute_ = only_compute();
    add({ComputeNode{einsum_, *compute_}}, layer_.place);
    for (const std::size_t node : shared_) let_go_round(node);
    return std::move(nodes_);
  }

 private:
  [[noreturn]] static void fail(DirectivePlace place, std::string message, std::string hint) {
    throw LayerMistake{place, std::move(message), std::move(hint)};
  }

  const std::vector<VariableRange>& space() const {
    return problem_.workload[einsum_].iteration_space;
  }

  void add(sluice::Node node, DirectivePlace place) { nodes_.push_back({std::move(node), place}); }

  ComponentId only_compute() const {
    const std::vector<BoundCompute>& computes = problem_[einsum_].computes;
    if (computes.size() != 1)
      fail(layer_.place, fmt::format("{} computes accept {}", computes.size(), layer_.name),
           "name one as the innermost level");
    return computes.front().component;
  }

  /// `REGF` of `REGF.2`.
  static std::string memory_of(const LevelDirectives& level) {
    const std::size_t dot = level.name.rfind('.');
    const bool is_number = dot != std::string::npos && dot + 1 < level.name.size() &&
                           level.name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    return is_number ? level.name.substr(0, dot) : level.name;
  }

  ComponentId component_of(const LevelDirectives& level) const {
    const auto found = find_component(problem_.arch, memory_of(level));
    if (found && (problem_.arch[*found].holds_tensors() || problem_.arch[*found].is_compute()))
      return *found;
    std::vector<std::string> names;
    for (const Component& component : problem_.arch.components)
      if (component.holds_tensors() || component.is_compute()) names.push_back(component.name);
    fail(level.place, fmt::format("the architecture has no memory `{}`", level.name),
         near(level.name, names));
  }

  void add_level(const LevelDirectives& level) {
    const ComponentId component = component_of(level);
    const VariableTiles outside = tiles_;
    std::vector<std::vector<BlockLoop>> loops = loops_of(level);
    check_dims(level);
    read_boxes(level, loops);
    check_boxes(level);
    std::vector<BlockLoop> all;
    for (std::size_t v = 0; v < tiles_.size(); ++v) {
      if (tiles_[v] > outside[v])
        fail(place_of(level, v),
             fmt::format("{}={} is more than the {} outside", dims_.name(v), tiles_[v], outside[v]),
             "");
      if (const auto mistake =
              check_cover(loops[v], tiles_[v], outside[v], dims_.name(v), place_of(level, v)))
        fail(mistake->place, mistake->message, "");
      all.insert(all.end(), loops[v].begin(), loops[v].end());
    }
    emit(level, component, all);
    last_ = component;
    if (problem_.arch[component].is_compute())
      compute_ = component;
    else
      add_nodes(level, component);
  }

  /// Stacks and updates by variable.
  std::vector<std::vector<BlockLoop>> loops_of(const LevelDirectives& level) const {
    std::vector<std::vector<BlockLoop>> loops(tiles_.size());
    const auto add = [&](const std::vector<DimNumber>& numbers, BlockLoop loop) {
      const auto found = dims_.find(numbers);
      if (!found)
        fail(loop.place, "no variable of the layer moves these dims together by so much", moves());
      std::tie(loop.variable, loop.tile) = *found;
      loops[loop.variable].push_back(std::move(loop));
    };
    for (const StackDirective& stack : level.stacks)
      add(stack.shifts, {0, 1, stack.count, true, stack.dimension, stack.place});
    for (const UpdateDirective& update : level.updates)
      add(update.steps, {0, 1, 1, false, "", update.place});
    return loops;
  }

  std::string moves() const {
    std::vector<std::string> texts;
    for (std::size_t v = 0; v < dims_.n_variables(); ++v) {
      std::vector<std::string> steps;
      for (const DimNumber& number : dims_.moved(v, 1))
        steps.push_back(fmt::format("{}+={}", number.dim, number.number));
      texts.push_back(fmt::format("{}", fmt::join(steps, ", ")));
    }
    return fmt::format("its variables move {}", fmt::join(texts, "; "));
  }

  TensorId tensor_of(const TensorDirective& box) const {
    const Einsum& einsum = problem_.workload[einsum_];
    std::vector<std::string> names;
    for (const TensorId tensor : tensors_of(einsum)) {
      names.push_back(problem_.workload[tensor].name);
      if (names.back() == box.name) return tensor;
    }
    for (const Rename& rename : einsum.renames)
      if (rename.name == box.name && rename.tensors.size() == 1) return rename.tensors[0];
    fail(box.place, fmt::format("the layer has no tensor `{}`", box.name), near(box.name, names));
  }

  std::int64_t extent_in(const TensorDirective& box, const EinsumDims::Dim& dim) const {
    for (const DimNumber& extent : box.extents)
      if (extent.dim == dim.name) return extent.number;
    fail(box.place, fmt::format("the tensor `{}` has no extent of {}", box.name, dim.name), "");
  }

  void check_dims(const LevelDirectives& level) const {
    for (const TensorDirective& box : level.tensors) {
      std::vector<std::string> names;
      for (const EinsumDims::Dim& dim : *dims_.of(tensor_of(box))) names.push_back(dim.name);
      for (const DimNumber& extent : box.extents)
        if (std::find(names.begin(), names.end(), extent.dim) == names.end())
          fail(box.place, fmt::format("the tensor `{}` has no dim {}", box.name, extent.dim),
               near(extent.dim, names));
    }
  }

  /// The tiles of all variables inside the level: as the boxes say, or else as the finest of its
  /// loops.
  void read_boxes(const LevelDirectives& level, const std::vector<std::vector<BlockLoop>>& loops) {
    std::vector<std::optional<std::int64_t>> known(tiles_.size());
    for (const TensorDirective& box : level.tensors)
      for (const EinsumDims::Dim& dim : *dims_.of(tensor_of(box))) {
        if (!dim.is_variable) continue;
        std::optional<std::int64_t>& tile = known[dim.terms[0].first];
        const std::int64_t extent = extent_in(box, dim);
        if (tile && *tile != extent)
          fail(box.place,
               fmt::format("{}={} here, and {} in another tensor of the level", dim.name, extent,
                           *tile),
               "");
        tile = extent;
      }
    for (std::size_t v = 0; v < tiles_.size(); ++v) {
      std::int64_t finest = tiles_[v];
      for (const BlockLoop& loop : loops[v]) finest = std::min(finest, loop.tile);
      tiles_[v] = known[v].value_or(finest);
    }
  }

  void check_boxes(const LevelDirectives& level) const {
    for (const TensorDirective& box : level.tensors) {
      const std::vector<EinsumDims::Dim>& dims = *dims_.of(tensor_of(box));
      for (const EinsumDims::Dim& dim : dims) {
        const std::int64_t extent = extent_in(box, dim);
        if (extent != dim.extent(tiles_))
          fail(box.place,
               fmt::format("{}={}; the windows of the box need {}", dim.name, extent,
                           dim.extent(tiles_)),
               "");
      }
    }
  }

  /// Of the first box with that variable, or of the level.
  DirectivePlace place_of(const LevelDirectives& level, std::size_t variable) const {
    for (const TensorDirective& box : level.tensors)
      for (const EinsumDims::Dim& dim : *dims_.of(tensor_of(box)))
        if (dim.is_variable && dim.terms[0].first == variable) return box.place;
    return level.place;
  }

  /// Updates and stacks as they stand, from the last to the first. A stack stands as far in as it
  /// can.
  void emit(const LevelDirectives& level, ComponentId component, std::vector<BlockLoop> loops) {
    std::vector<BlockLoop> updates, stacks;
    for (auto update = level.updates.rbegin(); update != level.updates.rend(); ++update)
      take(loops, update->steps, false, &updates);
    for (auto stack = level.stacks.rbegin(); stack != level.stacks.rend(); ++stack)
      take(loops, stack->shifts, true, &stacks);
    const std::vector<SpatialNode> spatial = places_of(stacks, component);
    auto update = updates.begin();
    auto stack = spatial.begin();
    for (const bool is_stack : nest_order(updates, stacks)) {
      if (is_stack) {
        add({*stack}, stacks[static_cast<std::size_t>(stack - spatial.begin())].place);
        ++stack;
        continue;
      }
      add({TemporalNode{{space()[update->variable].variable}, update->tile, std::nullopt}},
          update->place);
      ++update;
    }
  }

  /// Moves the loop that these numbers say, unless it was taken out.
  void take(std::vector<BlockLoop>& loops, const std::vector<DimNumber>& numbers, bool is_stack,
            std::vector<BlockLoop>* into) const {
    const auto found = dims_.find(numbers);
    const auto at = std::find_if(loops.begin(), loops.end(), [&](const BlockLoop& loop) {
      return loop.is_stack == is_stack && loop.variable == found->first &&
             loop.tile == found->second;
    });
    if (at == loops.end()) return;
    into->push_back(*at);
    loops.erase(at);
  }

  /// Spatial dimensions between the last level and this one, the nearest first.
  std::vector<SpatialNode> dimensions_to(ComponentId component) const {
    std::vector<SpatialNode> dimensions;
    for (std::size_t c = last_ ? last_->index() + 1 : 0; c <= component.index(); ++c)
      for (std::size_t d = 0; d < problem_.arch.components[c].spatial.size(); ++d) {
        SpatialNode node;
        node.component = ComponentId(c);
        node.dimension = static_cast<std::uint32_t>(d);
        dimensions.insert(dimensions.begin(), node);
      }
    return dimensions;
  }

  /// `stacks`: outermost first; they fill dimensions from the last one on.
  std::vector<SpatialNode> places_of(const std::vector<BlockLoop>& stacks,
                                     ComponentId component) const {
    const std::vector<SpatialNode> dimensions = dimensions_to(component);
    std::vector<std::int64_t> used(dimensions.size(), 1);
    std::vector<SpatialNode> places(stacks.size());
    std::size_t nearest = 0;
    for (std::size_t s = stacks.size(); s-- > 0;) {
      const BlockLoop& stack = stacks[s];
      const auto fits = [&](std::size_t d) {
        const SpatialDimension& dimension =
            problem_.arch[dimensions[d].component].spatial[dimensions[d].dimension];
        return stack.dimension.empty() ? used[d] * stack.count <= dimension.fanout
                                       : dimension.name == stack.dimension;
      };
      std::size_t d = stack.dimension.empty() ? nearest : 0;
      while (d < dimensions.size() && !fits(d)) ++d;
      if (d == dimensions.size()) no_room(stack, dimensions);
      if (stack.dimension.empty()) nearest = d;
      used[d] *= stack.count;
      places[s] = dimensions[d];
      places[s].variables = {space()[stack.variable].variable};
      places[s].tile_shape = stack.tile;
    }
    return places;
  }

  [[noreturn]] void no_room(const BlockLoop& stack,
                            const std::vector<SpatialNode>& dimensions) const {
    std::vector<std::string> names;
    for (const SpatialNode& node : dimensions) {
      const SpatialDimension& dimension = problem_.arch[node.component].spatial[node.dimension];
      names.push_back(fmt::format("{} has {}", dimension.name, dimension.fanout));
    }
    fail(stack.place,
         stack.dimension.empty()
             ? fmt::format("no spatial dimension here has room for {} more", stack.count)
             : fmt::format("there is no spatial dimension `{}` here", stack.dimension),
         names.empty() ? "there is none between these levels"
                       : fmt::format("{}", fmt::join(names, ", ")));
  }

  void add_nodes(const LevelDirectives& level, ComponentId component) {
    const bool is_memory = problem_.arch[component].is_memory();
    if (!is_memory && problem_.workload[einsum_].is_copy_operation)
      fail(level.place, "the tolls of a copy Einsum depend on what other layers share",
           "give its mapping as YAML");
    for (const TensorDirective& box : level.tensors) {
      StorageNode node;
      node.tensors = {tensor_of(box)};
      node.component = component;
      const bool is_backing = is_memory && backed_.insert(node.tensors[0]).second;
      node.incremental = is_memory && !is_backing && !box.whole && box.sharers == 1;
      node.sliding = box.sliding;
      node.persistent = box.persistent;
      node.resident = box.resident;
      if (box.sharers > 1) {
        node.shared_by = box.sharers;
        shared_.push_back(nodes_.size());
      }
      add({std::move(node)}, box.place);
    }
  }

  /// The text says how many buffers share a tile; the loops around it say which, and how.
  void let_go_round(std::size_t node) {
    std::vector<const sluice::Node*> path;
    for (const PlacedNode& other : nodes_) path.push_back(&other.node);
    auto& storage = std::get<StorageNode>(nodes_[node].node.kind);
    const auto rotation =
        rotation_of(problem_, einsum_, path, node, storage.tensors[0], *storage.shared_by);
    if (!rotation) fail(nodes_[node].place, rotation.error(), "");
    storage.over = rotation->over;
    storage.along = rotation->along;
  }

  const BoundProblem& problem_;
  EinsumId einsum_;
  const LayerDirectives& layer_;
  EinsumDims dims_;
  VariableTiles tiles_;  ///< inside the last level
  std::set<TensorId> backed_;
  std::optional<ComponentId> last_, compute_;
  PlacedNodes nodes_;
  std::vector<std::size_t> shared_;  ///< nodes whose tiles go round
};

}  // namespace

PlacedNodes layer_nodes(const BoundProblem& problem, EinsumId einsum, const LayerDirectives& layer,
                        std::set<TensorId> backed) {
  return LayerReader(problem, einsum, layer, std::move(backed)).read();
}

std::string near(const std::string& word, const std::vector<std::string>& words) {
  const std::string found = nearest_name(word, words);
  return found.empty() ? fmt::format("there are {}", fmt::join(words, ", "))
                       : fmt::format("did you mean '{}'?", found);
}

}  // namespace sluice::kapla
