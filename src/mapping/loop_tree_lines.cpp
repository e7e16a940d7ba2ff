#include "loop_tree_lines.h"

#include <fmt/format.h>

#include <utility>

#include "mapping/held_tiles.h"
#include "sluice/support/human_units.h"

namespace sluice {
namespace {

std::string_view how_children_run(SplitKind kind) {
  switch (kind) {
    case SplitKind::kSequential:
      return "one after the other";
    case SplitKind::kPipeline:
      return "as a pipeline";
    case SplitKind::kParallel:
      return "at the same time";
  }
  return "";
}

struct LoopSteps {
  std::int64_t trips = 1;
  std::int64_t tile = 1;
};

class Describer {
 public:
  Describer(const Workload& workload, const Arch& arch, const DrawingOptions& options)
      : workload_(workload),
        arch_(arch),
        options_(options),
        tiles_(workload, options.bits_per_value),
        loops_(workload) {}

  DrawingBranch branch(const NodeList& nodes) {
    DrawingBranch result;
    const EinsumsBelow below(nodes);
    const std::vector<TileSizes> outside = loops_.saved(below.order);
    for (const Node& node : nodes) {
      std::visit([&](const auto& kind) { add(kind, below, result); }, node.kind);
    }
    loops_.restore(below.order, outside);
    if (result.children.empty())
      for (const EinsumId einsum : below.order) result.einsums.push_back(workload_[einsum].name);
    return result;
  }

 private:
  void add(const StorageNode& node, const EinsumsBelow& below, DrawingBranch& out) const {
    DrawingLine line{arch_[node.component].name + " holds", {}, arch_[node.component].name, false};
    std::string marks = storage_marks(node);
    line.shape += marks;
    if (!node.einsums.empty()) marks += " for " + einsum_names(node.einsums);
    for (const TensorId tensor : node.tensors) {
      auto [text, shape] = tile_text(node, tensor, below);
      line.items.push_back(workload_[tensor].name + " " + text + marks);
      line.shape += "|" + shape;
    }
    append(std::move(line), out);
  }

  void add(const TemporalNode& node, const EinsumsBelow& below, DrawingBranch& out) {
    const LoopSteps steps =
        enter_loop(node.variables, node.tile_shape, node.initial_tile_shape, below);
    DrawingLine line{"for", {loop_text(node.variables, steps)}, loop_shape("for", steps), true};
    if (node.initial_tile_shape)
      line.items.back() += fmt::format(" (first {})", *node.initial_tile_shape);
    append(std::move(line), out);
  }

  void add(const SpatialNode& node, const EinsumsBelow& below, DrawingBranch& out) {
    const LoopSteps steps =
        enter_loop(node.variables, node.tile_shape, node.initial_tile_shape, below);
    const Component& component = arch_[node.component];
    const std::string place = component.name + "." + component.spatial.at(node.dimension).name;
    append({options_.compact ? "for" : "spread",
            {loop_text(node.variables, steps) + " across " + place},
            loop_shape("spread across " + place, steps),
            true},
           out);
  }

  void add(const ComputeNode& node, const EinsumsBelow&, DrawingBranch& out) const {
    const std::string& place = arch_[node.component].name;
    out.lines.push_back({place + " computes", {workload_[node.einsum].name}, place, false});
  }

  void add(const CollectiveNode& node, const EinsumsBelow&, DrawingBranch& out) const {
    out.lines.push_back(
        {collective_name(node.type),
         {fmt::format("{} over {}, {} to {}", workload_[node.tensor].name,
                      fmt::join(node.over, " and "), arch_[node.src].name, arch_[node.dst].name)},
         collective_name(node.type),
         false});
  }

  void add(const SplitNode& node, const EinsumsBelow&, DrawingBranch& out) {
    out.split = how_children_run(node.kind);
    if (node.kind != SplitKind::kSequential) {
      DrawingLine line{"children", {out.split}, out.split, false};
      if (node.over)
        line.items.push_back(fmt::format("{} of {}", fmt::join(node.shares, " + "), *node.over));
      for (const auto& [tensor, memory] : node.forward)
        line.items.push_back(
            fmt::format("{} forwarded in {}", workload_[tensor].name, arch_[memory].name));
      append(std::move(line), out);
    }
    for (const NodeList& child : node.children) {
      out.children.push_back(branch(child));
      const auto& names = out.children.back().einsums;
      out.einsums.insert(out.einsums.end(), names.begin(), names.end());
    }
  }

  /// Joins adjacent lines with the same head in the compact form.
  void append(DrawingLine line, DrawingBranch& out) const {
    if (options_.compact && !out.lines.empty() && out.lines.back().head == line.head) {
      DrawingLine& last = out.lines.back();
      last.items.insert(last.items.end(), line.items.begin(), line.items.end());
      last.shape += "+" + line.shape;
      return;
    }
    out.lines.push_back(std::move(line));
  }

  /// Shrinks the tiles of every Einsum that knows one of the variables.
  LoopSteps enter_loop(const std::vector<RankVariableId>& variables, std::int64_t tile_shape,
                       const std::optional<std::int64_t>& initial, const EinsumsBelow& below) {
    loops_.enter({variables, tile_shape, initial.value_or(0)}, below.order);
    return {loops_.steps(), tile_shape};
  }

  std::string loop_text(const std::vector<RankVariableId>& variables,
                        const LoopSteps& steps) const {
    std::string names;
    for (const RankVariableId variable : variables) {
      if (!names.empty()) names += '/';
      names += workload_[variable].name;
    }
    return fmt::format("{} {}{} of {}", names, options_.ascii ? "x" : "×", steps.trips, steps.tile);
  }

  static std::string loop_shape(const std::string& head, const LoopSteps& steps) {
    return fmt::format("{} {} of {}", head, steps.trips, steps.tile);
  }

  /// The largest tile that any Einsum below sees, as text with rank names and without.
  std::pair<std::string, std::string> tile_text(const StorageNode& node, TensorId tensor,
                                                const EinsumsBelow& below) const {
    const auto tile = tiles_.held(node, tensor, below, loops_);
    if (!tile) return {"", ""};
    const std::string size = human_size(tile->bits);
    const std::string shape = fmt::format("{} {}", size, fmt::join(tile->extents, ","));
    if (options_.compact || tile->extents.empty()) return {size, shape};
    return {size + " [" + named_extents(*tile, tensor, workload_) + "]", shape};
  }

  std::string einsum_names(const std::vector<EinsumId>& einsums) const {
    std::vector<std::string> names;
    for (const EinsumId einsum : einsums) names.push_back(workload_[einsum].name);
    return fmt::format("{}", fmt::join(names, " and "));
  }

  std::string storage_marks(const StorageNode& node) const {
    std::string marks;
    if (node.persistent) marks += " (persistent)";
    if (node.resident) marks += " (resident)";
    if (node.sliding) marks += " (sliding)";
    if (node.incremental) marks += " (incremental)";
    if (node.shared_by) marks += fmt::format(" (shared by {})", *node.shared_by);
    return marks;
  }

  const Workload& workload_;
  const Arch& arch_;
  const DrawingOptions& options_;
  HeldTiles tiles_;
  LoopTiles loops_;  ///< on the way down
};

}  // namespace

std::string DrawingBranch::shape() const {
  std::string text;
  for (const DrawingLine& line : lines) text += line.shape + "\n";
  text += split + "(";
  for (const DrawingBranch& child : children) text += child.shape() + ";";
  return text + ")";
}

DrawingBranch describe_loop_tree(const Mapping& mapping, const Workload& workload, const Arch& arch,
                                 const DrawingOptions& options) {
  return Describer(workload, arch, options).branch(mapping.nodes);
}

}  // namespace sluice
