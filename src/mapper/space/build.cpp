#include "build.h"

#include <algorithm>
#include <set>

#include "mapper/shape/trip_choices.h"
#include "sluice/support/error.h"
#include "spine.h"

namespace sluice::fused {
namespace {

/// A fused loop of the tree, shared by consecutive Einsums.
struct TreeLoop {
  SpineLoop loop;
  std::size_t level = 0;
  std::vector<RankVariableId> variables;  // as the sharing Einsums call it
};

struct PlacedSlot {
  Slot slot;
  std::size_t level = 0;  // number of fused loops above it
  bool emitted = false;
  /// Written right below the loop that it slides over or sinks through (loop place), or -1.
  std::int32_t below = -1;
};

/// One Einsum's way through the tree.
struct Path {
  const EinsumShape* shape;
  const Template* templ;
  const Compatibility* compatibility;
  std::vector<std::int64_t> trips;  // per loop place
  std::vector<std::size_t> loops;   // fused loops, outermost first: index into TreeLoops
  std::vector<PlacedSlot> slots;    // template order
};

class TreeBuilder {
 public:
  TreeBuilder(const BoundProblem& problem, std::vector<BuildPart> parts)
      : problem_(problem), workload_(problem.workload) {
    for (BuildPart& part : parts) add_path(std::move(part));
    replay();
    for (Path& path : paths_)
      std::stable_sort(path.loops.begin(), path.loops.end(), [&](std::size_t a, std::size_t b) {
        return loops_[a].level < loops_[b].level;
      });
  }

  Mapping run() {
    Mapping mapping;
    emit_outermost(&mapping.nodes);
    emit_range(0, paths_.size(), 0, &mapping.nodes);
    return mapping;
  }

 private:
  void add_path(BuildPart part) {
    Path path;
    path.shape = part.shape;
    path.templ = part.templ;
    path.compatibility = part.compatibility;
    path.trips = std::move(part.trips);
    const std::vector<std::int64_t>& trips = path.trips;
    for (const Slot& slot : path.templ->slots) {
      PlacedSlot placed{slot};
      for (std::size_t l = 0; l < trips.size(); ++l)
        placed.level +=
            path.templ->loops[l].fused && trips[l] > 1 && path.templ->loops[l].gap < slot.gap;
      if (const std::int32_t l = slot.loop_above_node();
          l >= 0 && trips[static_cast<std::size_t>(l)] > 1)
        placed.below = l;
      path.slots.push_back(placed);
    }
    paths_.push_back(std::move(path));
  }

  /// Joins the chosen pmappings again, following each loop to the level at which it closes.
  void replay() {
    std::vector<std::size_t> last_use(workload_.tensors.size(), 0);
    for (std::size_t e = 0; e < paths_.size(); ++e)
      for (const LocalTensor& tensor : paths_[e].shape->tensors) last_use[tensor.id.index()] = e;
    Spine spine;
    std::vector<std::size_t> open;  // tree loop of each spine loop
    for (std::size_t e = 0; e < paths_.size(); ++e) {
      const Spine next = spine_of(*paths_[e].shape, *paths_[e].compatibility);
      const std::optional<Match> match = match_spines(spine, next, problem_.roles);
      SLUICE_CHECK(match.has_value(), "joined pmappings no longer match");
      std::vector<std::size_t> all;
      for (std::size_t i = 0; i < match->loops.size(); ++i) {
        const auto [left, right] = match->loops[i];
        std::size_t loop = loops_.size();
        if (left >= 0) {
          loop = open[static_cast<std::size_t>(left)];
        } else {
          loops_.push_back({next.loops[static_cast<std::size_t>(right)], 0, {}});
        }
        loops_[loop].level = i;
        all.push_back(loop);
        const auto& fused = paths_[e].compatibility->loops;
        SLUICE_CHECK(right >= 0, "an Einsum stands outside a loop that is open");
        add_variable(&loops_[loop],
                     paths_[e].shape->variables[fused[static_cast<std::size_t>(right)].variable],
                     paths_[e].shape->einsum);
        paths_[e].loops.push_back(loop);
      }
      JoinedSpine joined = join_spines(spine, next, *match, last_use, e);
      open.clear();
      for (std::size_t i = 0; i < joined.from.size(); ++i) {
        open.push_back(all[joined.from[i]]);
        loops_[open.back()].level = i;
      }
      spine = std::move(joined.spine);
    }
  }

  /// Each Einsum takes the first listed variable that it uses: the one of `einsum` goes in front of
  /// all others that it uses too.
  void add_variable(TreeLoop* loop, RankVariableId variable, EinsumId einsum) const {
    std::vector<RankVariableId>& listed = loop->variables;
    const auto at = std::find(listed.begin(), listed.end(), variable);
    const auto first = std::find_if(listed.begin(), listed.end(), [&](RankVariableId other) {
      return other != variable && uses_variable(workload_[einsum], other);
    });
    if (at != listed.end() && at < first) return;
    const auto position = first - listed.begin();
    if (at != listed.end()) listed.erase(at);
    listed.insert(listed.begin() + position, variable);
  }

  // ---- storage nodes -----------------------------------------------------------------------
  void emit_storage(const Path& path, PlacedSlot* placed, bool private_above_split,
                    NodeList* nodes) {
    if (placed->emitted) return;
    placed->emitted = true;
    const Slot& slot = placed->slot;
    const TensorId tensor = path.shape->tensors[slot.tensor].id;
    if (slot.backing) {
      if (!backed_.insert(tensor).second) return;
    }
    StorageNode node;
    node.tensors = {tensor};
    node.component = slot.component;
    node.persistent = slot.persistent;
    node.sliding = placed->below >= 0 && slot.sliding_loop >= 0;
    if (private_above_split && !slot.backing && problem_.roles.is_shared(tensor))
      node.einsums = {path.shape->einsum};
    append(std::move(node), nodes);
  }

  /// Adds a storage node, or its tensor to an equal node right above it.
  static void append(StorageNode node, NodeList* nodes) {
    if (!nodes->empty()) {
      if (auto* last = std::get_if<StorageNode>(&nodes->back().kind)) {
        StorageNode same = node;
        same.tensors = last->tensors;
        if (same == *last && !node.sliding) {
          last->tensors.push_back(node.tensors.front());
          return;
        }
      }
    }
    nodes->push_back({std::move(node)});
  }

  /// Of the outermost memory, where no loop over its instances stands above it, or persistent.
  static bool stands_on_top(const Path& path, const Slot& slot) {
    if (slot.gap == 0 || !path.templ->ports || slot.gap > 1) return slot.gap == 0;
    for (std::size_t l = 0; l < path.trips.size(); ++l)
      if (path.templ->loops[l].gap == 0 && path.trips[l] > 1) return false;
    return true;
  }

  /// Backing nodes of the outermost memory and of persistent tensors stand above everything.
  void emit_outermost(NodeList* nodes) {
    for (const bool persistent : {true, false})
      for (Path& path : paths_)
        for (PlacedSlot& placed : path.slots)
          if (stands_on_top(path, placed.slot) && placed.slot.persistent == persistent)
            emit_storage(path, &placed, false, nodes);
  }

  // ---- tree --------------------------------------------------------------------------------
  bool share_loop(std::size_t a, std::size_t b, std::size_t level) const {
    return level < paths_[a].loops.size() && level < paths_[b].loops.size() &&
           paths_[a].loops[level] == paths_[b].loops[level];
  }

  static bool stands_below_fused(const Path& path, const PlacedSlot& placed) {
    return placed.below >= 0 && path.templ->loops[static_cast<std::size_t>(placed.below)].fused;
  }

  std::size_t end_of_run(std::size_t first, std::size_t last, std::size_t level) const {
    std::size_t end = first + 1;
    while (end < last && share_loop(first, end, level)) ++end;
    return end;
  }

  /// Einsums [first, last) share the loops above `level`.
  void emit_range(std::size_t first, std::size_t last, std::size_t level, NodeList* nodes) {
    if (last - first == 1) {
      emit_single(&paths_[first], level, nodes);
      return;
    }
    if (end_of_run(first, last, level) == last) {
      for (std::size_t e = first; e < last; ++e)
        for (PlacedSlot& placed : paths_[e].slots)
          if (placed.level == level && placed.below < 0)
            emit_storage(paths_[e], &placed, true, nodes);
      emit_loop(loops_[paths_[first].loops[level]], nodes);
      // What slides over the loop stands right below it.
      for (std::size_t e = first; e < last; ++e)
        for (PlacedSlot& placed : paths_[e].slots)
          if (placed.level == level && stands_below_fused(paths_[e], placed))
            emit_storage(paths_[e], &placed, true, nodes);
      emit_range(first, last, level + 1, nodes);
      return;
    }
    emit_exchanged(first, last, level, nodes);
    SplitNode split;
    for (std::size_t at = first; at < last;) {
      const std::size_t end = end_of_run(at, last, level);
      NodeList child;
      emit_range(at, end, level, &child);
      split.children.push_back(std::move(child));
      at = end;
    }
    nodes->push_back({std::move(split)});
  }

  /// Backing nodes at a split of tensors that several of its children use, and between them, in the
  /// order of each Einsum, the private nodes that only one of them keeps from sinking.
  void emit_exchanged(std::size_t first, std::size_t last, std::size_t level, NodeList* nodes) {
    std::vector<std::pair<Path*, PlacedSlot*>> above;
    for (std::size_t e = first; e < last; ++e) {
      const std::vector<PlacedSlot*> kept_up = find_kept_up(first, last, level, e);
      std::ptrdiff_t next = 0;  // where the next one of this Einsum may stand
      for (PlacedSlot& placed : paths_[e].slots) {
        if (placed.emitted || placed.level != level) continue;
        const bool exchanged = spans(first, last, level, e, placed);
        if (!exchanged && std::find(kept_up.begin(), kept_up.end(), &placed) == kept_up.end())
          continue;
        const auto known = std::find_if(above.begin(), above.end(), [&](const auto& other) {
          return exchanged && other.second->slot.backing &&
                 tensor_of(*other.first, *other.second) == tensor_of(paths_[e], placed);
        });
        std::ptrdiff_t place = known - above.begin();
        if (known == above.end()) {
          if (!exchanged) place = next;
          above.insert(above.begin() + place, {&paths_[e], &placed});
        }
        next = std::max(next, place + 1);
      }
    }
    for (const auto& [path, placed] : above) emit_storage(*path, placed, true, nodes);
  }

  static TensorId tensor_of(const Path& path, const PlacedSlot& placed) {
    return path.shape->tensors[placed.slot.tensor].id;
  }

  std::vector<PlacedSlot*> find_kept_up(std::size_t first, std::size_t last, std::size_t level,
                                        std::size_t e) {
    std::vector<PlacedSlot*> kept_up;
    bool spans_below = false;
    for (auto placed = paths_[e].slots.rbegin(); placed != paths_[e].slots.rend(); ++placed) {
      if (placed->level != level || stands_on_top(paths_[e], placed->slot)) continue;
      if (spans(first, last, level, e, *placed))
        spans_below = true;
      else if (spans_below && (would_sink(paths_[e], placed->slot) || fills(kept_up, placed->slot)))
        kept_up.push_back(&*placed);
    }
    return kept_up;
  }

  /// A node that one of these is filled from, or a toll that it is filled through.
  static bool fills(const std::vector<PlacedSlot*>& nodes, const Slot& outer) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const PlacedSlot* node) { return node->slot.tensor == outer.tensor; });
  }

  /// Whether several children of a split use the tensor that a backing node of Einsum e holds.
  bool spans(std::size_t first, std::size_t last, std::size_t level, std::size_t e,
             const PlacedSlot& placed) const {
    if (!placed.slot.backing) return false;
    const TensorId tensor = tensor_of(paths_[e], placed);
    const auto uses = [&](const Path& path) {
      return std::any_of(path.shape->tensors.begin(), path.shape->tensors.end(),
                         [&](const LocalTensor& t) { return t.id == tensor; });
    };
    std::size_t users = 0;
    for (std::size_t at = first; at < last;) {
      const std::size_t end = end_of_run(at, last, level);
      users += std::any_of(paths_.begin() + static_cast<std::ptrdiff_t>(at),
                           paths_.begin() + static_cast<std::ptrdiff_t>(end), uses);
      at = end;
    }
    return users > 1;
  }

  /// Whether the first loop below a node is one that its tile would sink through.
  bool would_sink(const Path& path, const Slot& slot) const {
    if (slot.backing || slot.sliding_loop >= 0 || problem_.arch[slot.component].is_toll())
      return false;
    for (const Item& item : path.templ->items) {
      if (!item.is_loop || path.trips[item.index] == 1) continue;
      const LoopPlace& loop = path.templ->loops[item.index];
      if (loop.gap < slot.gap) continue;
      return !loop.spatial && path.shape->sinks(slot.tensor, loop.variable);
    }
    return false;
  }

  void emit_loop(const TreeLoop& loop, NodeList* nodes) const {
    if (loop.loop.spatial) {
      nodes->push_back({SpatialNode{loop.variables, stated_tile(loop.loop.tile),
                                    loop.loop.component, loop.loop.dimension, std::nullopt}});
    } else {
      nodes->push_back({TemporalNode{loop.variables, stated_tile(loop.loop.tile), std::nullopt}});
    }
  }

  static TreeLoop own_loop(const Path& path, const LoopPlace& place, std::int64_t tile) {
    TreeLoop own;
    own.loop.spatial = place.spatial;
    own.loop.component = place.component;
    own.loop.dimension = place.dimension;
    own.loop.tile = tile;
    own.variables = {path.shape->variables[place.variable]};
    return own;
  }

  /// The rest of one Einsum's nest, from `level` on.
  void emit_single(Path* path, std::size_t level, NodeList* nodes) {
    std::vector<std::int64_t> tile(path->shape->sizes);
    std::size_t fused = 0;
    for (std::size_t l = 0; l < path->trips.size(); ++l)
      if (path->templ->loops[l].fused) {
        std::int64_t& inside = tile[path->templ->loops[l].variable];
        inside = tile_inside(inside, path->trips[l]);
      }
    for (const Item& item : path->templ->items) {
      if (!item.is_loop) {
        PlacedSlot& placed = path->slots[item.index];
        if (placed.level >= level && placed.below < 0) emit_storage(*path, &placed, false, nodes);
        continue;
      }
      const LoopPlace& place = path->templ->loops[item.index];
      const std::int64_t trips = path->trips[item.index];
      if (trips == 1) continue;
      if (place.fused) {
        if (fused >= level) emit_loop(loops_[path->loops[fused]], nodes);
        ++fused;
      } else {
        tile[place.variable] = tile_inside(tile[place.variable], trips);
        emit_loop(own_loop(*path, place, tile[place.variable]), nodes);
      }
      for (PlacedSlot& placed : path->slots)
        if (placed.below == static_cast<std::int32_t>(item.index))
          emit_storage(*path, &placed, false, nodes);
    }
    const ComponentId compute =
        problem_[path->shape->einsum].computes[path->templ->compute].component;
    nodes->push_back({ComputeNode{path->shape->einsum, compute}});
  }

  const BoundProblem& problem_;
  const Workload& workload_;
  std::vector<Path> paths_;
  std::vector<TreeLoop> loops_;
  std::set<TensorId> backed_;
};

}  // namespace

Mapping build_mapping(const BoundProblem& problem, std::vector<BuildPart> parts) {
  return TreeBuilder(problem, std::move(parts)).run();
}

}  // namespace sluice::fused
