#include <algorithm>

#include "triples/draw/tree_draw.h"

// What stands below the shared part of a mapping for one Einsum.

namespace sluice::triples {

void TreeDraw::nest(std::vector<NodeSpec>& list, std::size_t e) {
  middle_part(list, e);
  if (w_.einsums.size() == 1 && !component("GB").spatial.empty() && dice_.chance(40))
    spatial_loop(list, e, "GB", "g");
  outer_part(list, e);
  const bool on_fork = draw_fork(e);
  const bool rotates =
      rotations_percent_ > 0 && !on_fork && dice_.chance(rotations_percent_) && rotation(list, e);
  for (const char* dimension : {"x", "y"})
    if (!rotates && dice_.chance(25)) spatial_loop(list, e, "PE", dimension);
  add_port(list, e);
  inner_part(list, e, on_fork);
}

void TreeDraw::middle_part(std::vector<NodeSpec>& list, std::size_t e) {
  if (!has("SB")) return;
  std::vector<NodeSpec> middle = loops(e, dice_.any(std::vector<std::int64_t>{0, 1, 2}));
  for (TensorId tensor : tensors_of(w_.einsums[e]))
    if (homes_[tensor.index()] != Home::kOutside) held_[e].insert("SB/" + w_[tensor].name);
  insert_storages(middle, e, "SB", 60);
  list.insert(list.end(), middle.begin(), middle.end());
}

void TreeDraw::outer_part(std::vector<NodeSpec>& list, std::size_t e) {
  std::vector<NodeSpec> outer = loops(e, dice_.any(std::vector<std::int64_t>{0, 1, 1, 2, 3}));
  insert_storages(outer, e, "GB", 45);
  list.insert(list.end(), outer.begin(), outer.end());
}

bool TreeDraw::draw_fork(std::size_t e) {
  return has("SIMD") && tensors_of(w_.einsums[e]).size() == 2 && dice_.chance(50);
}

void TreeDraw::add_port(std::vector<NodeSpec>& list, std::size_t e) {
  if (!has("Port") || !dice_.chance(60)) return;
  std::vector<std::string> names;
  for (TensorId tensor : tensors_of(w_.einsums[e]))
    if (dice_.chance(60) && homes_[tensor.index()] != Home::kElsewhere)
      names.push_back(w_[tensor].name);
  if (!names.empty()) list.push_back(storage("Port", names));
}

void TreeDraw::inner_part(std::vector<NodeSpec>& list, std::size_t e, bool on_fork) {
  std::vector<NodeSpec> inner = loops(e, dice_.any(std::vector<std::int64_t>{0, 0, 1, 2}));
  std::vector<NodeSpec> last = last_loops(e);
  insert_storages(inner, e, "RF", 25);
  list.insert(list.end(), inner.begin(), inner.end());
  if (!component(on_fork ? "SIMD" : "MAC").spatial.empty() && !on_fork && dice_.chance(30))
    spatial_loop(list, e, "MAC", "c");
  list.insert(list.end(), last.begin(), last.end());
  NodeSpec compute;
  compute.kind = NodeSpec::Kind::kCompute;
  compute.names = {w_.einsums[e].name};
  compute.component = on_fork ? "SIMD" : "MAC";
  list.push_back(compute);
}

RankVariableId TreeDraw::any_variable(std::size_t e) {
  return dice_.any(w_.einsums[e].iteration_space).variable;
}

std::vector<NodeSpec> TreeDraw::loops(std::size_t e, std::int64_t n) {
  std::vector<NodeSpec> list;
  for (; n > 0; --n) {
    const RankVariableId v = any_variable(e);
    const std::int64_t tile = tile_below(tiles_[e][v]);
    list.push_back(loop_over({v}, tile));
    if (dice_.chance(4) && tile < tiles_[e][v]) list.back().first_tile = tile + 1;
    tiles_[e][v] = tile;
  }
  return list;
}

void TreeDraw::spatial_loop(std::vector<NodeSpec>& list, std::size_t e,
                            const std::string& component_name, const std::string& dimension) {
  const RankVariableId v = any_variable(e);
  const int fanout = fanout_of(component_name, dimension);
  const std::int64_t tile = tile_below(tiles_[e][v]);
  if ((tiles_[e][v] + tile - 1) / tile > fanout && !dice_.chance(3)) return;
  NodeSpec node = loop_over({v}, tile);
  node.kind = NodeSpec::Kind::kSpatial;
  node.component = component_name;
  node.dimension = dimension;
  list.push_back(node);
  tiles_[e][v] = tile;
}

std::vector<NodeSpec> TreeDraw::last_loops(std::size_t e) {
  std::vector<RankVariableId> variables;
  for (const auto& [variable, tile] : tiles_[e])
    if (tile > 1 || dice_.chance(20)) variables.push_back(variable);
  for (std::size_t i = variables.size(); i > 1; --i)
    std::swap(variables[i - 1], variables[static_cast<std::size_t>(dice_.below(i))]);
  std::vector<NodeSpec> list;
  for (RankVariableId v : variables) list.push_back(loop_over({v}, 1));
  return list;
}

void TreeDraw::insert_storages(std::vector<NodeSpec>& list, std::size_t e,
                               const std::string& memory_name, int percent) {
  for (TensorId tensor : tensors_of(w_.einsums[e])) {
    const std::string& name = w_[tensor].name;
    if (!dice_.chance(percent) || (held_[e].count(memory_name + "/" + name) && !dice_.chance(2)))
      continue;
    held_[e].insert(memory_name + "/" + name);
    NodeSpec node = storage(memory_name, {name});
    node.persistent = dice_.chance(4);
    node.sliding = dice_.chance(40) && reads_a_window(w_.einsums[e], tensor);
    list.insert(list.begin() + dice_.below(list.size() + 1), node);
  }
}

bool TreeDraw::reads_a_window(const Einsum& einsum, TensorId tensor) {
  for (const TensorAccess& access : einsum.accesses)
    for (const AffineExpression& index : access.projection)
      if (access.tensor == tensor && !access.is_output && index.terms.size() > 1) return true;
  return false;
}

void TreeDraw::spoil() {
  std::vector<NodeSpec>* list = &triple_.nodes;
  while (list->back().kind == NodeSpec::Kind::kSequential && dice_.chance(70))
    list =
        &list->back().children[static_cast<std::size_t>(dice_.below(list->back().children.size()))];
  const std::size_t at = static_cast<std::size_t>(dice_.below(list->size()));
  NodeSpec& node = (*list)[at];
  switch (dice_.below(4)) {
    case 0:
      if (at + 1 < list->size()) list->erase(list->begin() + static_cast<long>(at));
      break;
    case 1:
      if (at + 2 < list->size()) std::swap((*list)[at], (*list)[at + 1]);
      break;
    case 2:
      if (node.kind == NodeSpec::Kind::kTemporal) node.tile += 1;
      break;
    default:
      if (node.kind == NodeSpec::Kind::kSequential)
        std::swap(node.children.front(), node.children.back());
      break;
  }
}

}  // namespace sluice::triples
