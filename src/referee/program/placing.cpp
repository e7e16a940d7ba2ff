#include "placing.h"

#include <algorithm>

#include "loop_schedule.h"

namespace sluice::referee {
namespace {

EinsumSet served_by(const Workload& workload, const StorageNode& storage, const EinsumSet& below) {
  EinsumSet served;
  for (EinsumId einsum : below) {
    const auto& named = storage.einsums;
    if (!named.empty() && std::find(named.begin(), named.end(), einsum) == named.end()) continue;
    if (find_access(workload[einsum], storage.tensors[0])) served.insert(einsum);
  }
  return served;
}

NodeList one_tensor_each(const NodeList& written) {
  NodeList nodes;
  for (const Node& node : written) {
    const auto* storage = std::get_if<StorageNode>(&node.kind);
    if (!storage) {
      nodes.push_back(node);
      continue;
    }
    for (TensorId tensor : storage->tensors) {
      StorageNode single = *storage;
      single.tensors = {tensor};
      nodes.push_back(Node{single});
    }
  }
  return nodes;
}

/// How a variable moves the tile of a tensor. Where one Einsum touches `i` and `i+1`, the tiles of
/// neighbouring steps overlap: a window.
Relevance relevance_of_tile(const Einsum& einsum, TensorId tensor, RankVariableId variable) {
  Relevance seen = Relevance::kIrrelevant;
  const TensorAccess* first = nullptr;
  for (const TensorAccess& access : einsum.accesses) {
    if (access.tensor != tensor) continue;
    seen = std::max(seen, relevance(access, variable));
    if (!first) first = &access;
    for (std::size_t r = 0; r < access.projection.size(); ++r)
      if (access.projection[r].coefficient_of(variable) != 0 &&
          access.projection[r].constant != first->projection[r].constant)
        seen = Relevance::kPartial;
  }
  return seen;
}

/// How a storage that sinks sees a loop.
enum class Sight { kPass, kWindow, kStop };

Sight sight_of_temporal(const Workload& workload, const StorageNode& storage,
                        const EinsumSet& served, const TemporalNode& loop) {
  bool passes = true;
  bool is_window = true;
  for (EinsumId einsum : served) {
    Relevance seen = Relevance::kIrrelevant;
    for (RankVariableId variable : loop.variables) {
      if (!uses_variable(workload[einsum], variable)) continue;
      seen = relevance_of_tile(workload[einsum], storage.tensors[0], variable);
      break;
    }
    passes = passes && seen == Relevance::kRelevant;
    is_window = is_window && seen != Relevance::kIrrelevant;
  }
  if (passes) return Sight::kPass;
  return is_window ? Sight::kWindow : Sight::kStop;
}

/// Whether a loop that nobody walks would have several steps.
bool cuts_something(const Workload& workload, const LoopItem& loop) {
  const std::int64_t tile = std::max(loop.tile_shape, loop.initial_tile_shape.value_or(0));
  for (const Einsum& einsum : workload.einsums)
    for (RankVariableId variable : loop.variables)
      if (uses_variable(einsum, variable) && tile < variable_size(einsum, variable)) return true;
  return false;
}

struct Sinking {
  const Workload& workload;
  const PlacedList& list;
  std::vector<bool> one_trip;
  bool residents_stay = false;

  Sight sight(std::size_t storage_index, std::size_t i) const {
    const auto& storage = std::get<StorageNode>(list.nodes[storage_index].kind);
    const Node& node = list.nodes[i];
    const EinsumSet& served = list.places[storage_index].served;
    if (std::holds_alternative<StorageNode>(node.kind))
      return meet(served, list.places[i].served) ? Sight::kStop : Sight::kPass;
    if (one_trip[i]) return Sight::kPass;
    if (const auto* loop = std::get_if<SpatialNode>(&node.kind))
      return loop->component == storage.component ? Sight::kPass : Sight::kStop;
    if (const auto* loop = std::get_if<TemporalNode>(&node.kind))
      return sight_of_temporal(workload, storage, served, *loop);
    return Sight::kStop;
  }

  /// A sliding storage that stands directly below a window already slides over it.
  std::optional<std::size_t> window_above(std::size_t index) const {
    std::size_t above = index;
    while (above > 0 && std::holds_alternative<StorageNode>(list.nodes[above - 1].kind)) --above;
    if (above > 0 && sight(index, above - 1) == Sight::kWindow) return above - 1;
    return std::nullopt;
  }

  void sink(std::size_t index, Place& place) const {
    place.before = index;
    const auto& storage = std::get<StorageNode>(list.nodes[index].kind);
    if (place.is_backing || storage.incremental || storage.shared_by ||
        (storage.resident && residents_stay))
      return;
    const bool sliding = storage.sliding;
    if (sliding) place.slides_over = window_above(index);
    if (place.slides_over) return;
    for (std::size_t i = index + 1; i < list.nodes.size(); ++i) {
      const Sight seen = sight(index, i);
      const bool slides = seen == Sight::kWindow && sliding;
      if (seen != Sight::kPass && !slides) return;
      if (!std::holds_alternative<StorageNode>(list.nodes[i].kind)) place.before = i + 1;
      if (slides) {
        place.slides_over = i;
        return;
      }
    }
  }
};

/// Variables of Einsums whose place in the iteration space matters to the others: those that index
/// a window on what another one makes, the rows of it that the maker walks, and so on for what the
/// maker reads value by value along its rows.
std::set<std::pair<EinsumId, std::size_t>> placed_variables(const Workload& workload,
                                                            const EinsumSet& einsums) {
  std::set<std::pair<EinsumId, std::size_t>> placed;
  const auto add = [&](EinsumId einsum, const AffineExpression& index) {
    const auto& space = workload[einsum].iteration_space;
    for (std::size_t v = 0; v < space.size(); ++v)
      if (index.coefficient_of(space[v].variable) != 0) placed.insert({einsum, v});
  };
  const auto is_placed = [&](EinsumId einsum, const AffineExpression& index) {
    const auto& space = workload[einsum].iteration_space;
    for (std::size_t v = 0; v < space.size(); ++v)
      if (index.coefficient_of(space[v].variable) != 0 && placed.count({einsum, v}) > 0)
        return true;
    return false;
  };
  for (std::size_t known = placed.size() + 1; known != placed.size();) {
    known = placed.size();
    for (EinsumId maker : einsums)
      for (EinsumId reader : einsums)
        for (const TensorAccess& access : workload[reader].accesses) {
          const TensorAccess& output = workload[maker].output();
          if (maker == reader || access.is_output || access.tensor != output.tensor) continue;
          for (std::size_t r = 0; r < access.projection.size(); ++r) {
            const AffineExpression& index = access.projection[r];
            if (!index.is_window() && !is_placed(reader, index)) continue;
            add(maker, output.projection[r]);
            add(reader, index);
          }
        }
  }
  return placed;
}

void find_backing(const Arch& arch, PlacedList& list,
                  std::vector<std::pair<TensorId, EinsumSet>> held) {
  for (std::size_t i = 0; i < list.nodes.size(); ++i) {
    const auto* storage = std::get_if<StorageNode>(&list.nodes[i].kind);
    if (!storage || !arch[storage->component].is_memory()) continue;
    list.places[i].is_backing = std::none_of(held.begin(), held.end(), [&](const auto& outer) {
      return outer.first == storage->tensors[0] && meet(outer.second, list.places[i].served);
    });
    held.emplace_back(storage->tensors[0], list.places[i].served);
  }
}

}  // namespace

bool meet(const EinsumSet& a, const EinsumSet& b) {
  return std::any_of(a.begin(), a.end(), [&](EinsumId e) { return b.count(e) > 0; });
}

EinsumSet einsums_in(const NodeList& list) {
  EinsumSet found;
  for (const Node& node : list) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind)) found.insert(compute->einsum);
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) found.merge(einsums_in(child));
  }
  return found;
}

std::optional<LoopItem> as_loop(const Node& node) {
  LoopItem item;
  if (const auto* loop = std::get_if<TemporalNode>(&node.kind)) {
    item.variables = loop->variables;
    item.tile_shape = loop->tile_shape;
    item.initial_tile_shape = loop->initial_tile_shape;
    return item;
  }
  const auto* loop = std::get_if<SpatialNode>(&node.kind);
  if (!loop) return std::nullopt;
  item.variables = loop->variables;
  item.tile_shape = loop->tile_shape;
  item.initial_tile_shape = loop->initial_tile_shape;
  item.is_spatial = true;
  item.component = loop->component;
  item.dimension = loop->dimension;
  return item;
}

Tiles whole_tiles(const Workload& workload) {
  std::map<EinsumId, Box> tiles;
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    tiles[EinsumId(e)] = whole_box(workload.einsums[e]);
  return {tiles};
}

Tiles tiles_of(const Workload& workload, const Tiles& tiles, const EinsumSet& einsums) {
  const std::set<std::pair<EinsumId, std::size_t>> placed = placed_variables(workload, einsums);
  Tiles result;
  for (std::map<EinsumId, Box> situation : tiles) {
    std::erase_if(situation, [&](const auto& tile) { return einsums.count(tile.first) == 0; });
    for (auto& [einsum, box] : situation)
      for (std::size_t v = 0; v < box.size(); ++v)
        if (placed.count({einsum, v}) == 0) box[v].begin = 0;
    if (!situation.empty()) result.insert(std::move(situation));
  }
  return result;
}

Tiles enter_loop(const Workload& workload, LoopItem& loop, const Tiles& tiles) {
  Tiles inside;
  EinsumSet einsums;
  loop.has_one_step = true;
  for (const std::map<EinsumId, Box>& situation : tiles) {
    Lane lane;
    lane.boxes = situation;
    const auto schedule = loop_schedule(workload, loop, lane);
    for (const auto& [einsum, walk] : schedule) {
      std::size_t& most = loop.steps[einsum];
      const auto idle = std::count_if(walk.steps.begin(), walk.steps.end(),
                                      [](const Range& step) { return step.size == 0; });
      most = std::max(most, walk.steps.size() - static_cast<std::size_t>(idle));
      loop.has_one_step = loop.has_one_step && walk.steps.size() <= 1;
    }
    for (std::size_t step = 0; step < step_count(schedule); ++step)
      inside.insert(boxes_in_step(lane, schedule, step));
    for (const auto& [einsum, box] : situation) einsums.insert(einsum);
  }
  if (loop.steps.empty()) loop.has_one_step = !cuts_something(workload, loop);
  return tiles_of(workload, inside, einsums);
}

PlacedList place(const Workload& workload, const Arch& arch, const NodeList& written,
                 const std::vector<std::pair<TensorId, EinsumSet>>& held, const Tiles& tiles,
                 bool residents_stay) {
  PlacedList list;
  list.nodes = one_tensor_each(written);
  list.places.resize(list.nodes.size());
  list.einsums = einsums_in(list.nodes);
  Sinking sinking{workload, list, {}, residents_stay};
  Tiles inside = tiles;
  for (std::size_t i = 0; i < list.nodes.size(); ++i) {
    std::optional<LoopItem> loop = as_loop(list.nodes[i]);
    if (loop) inside = enter_loop(workload, *loop, inside);
    sinking.one_trip.push_back(loop && loop->has_one_step);
    if (const auto* storage = std::get_if<StorageNode>(&list.nodes[i].kind))
      list.places[i].served = served_by(workload, *storage, list.einsums);
  }
  find_backing(arch, list, held);
  for (std::size_t i = 0; i < list.nodes.size(); ++i)
    if (std::holds_alternative<StorageNode>(list.nodes[i].kind)) {
      Place place = list.places[i];
      sinking.sink(i, place);
      list.places[i] = place;
    }
  for (std::size_t i = 0; i <= list.nodes.size(); ++i) {
    for (std::size_t s = 0; s < list.nodes.size(); ++s)
      if (std::holds_alternative<StorageNode>(list.nodes[s].kind) && list.places[s].before == i)
        list.order.push_back(s);
    if (i < list.nodes.size() && !std::holds_alternative<StorageNode>(list.nodes[i].kind))
      list.order.push_back(i);
  }
  return list;
}

}  // namespace sluice::referee
