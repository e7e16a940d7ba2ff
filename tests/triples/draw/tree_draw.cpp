#include <algorithm>

#include "triples/draw/tree_draw.h"

namespace sluice::triples {

TreeDraw::TreeDraw(Dice& dice, Triple& triple, const Workload& workload)
    : dice_(dice),
      triple_(triple),
      w_(workload),
      roles_(tensor_roles(workload)),
      perfect_(dice.chance(65)) {
  for (const Einsum& einsum : w_.einsums) {
    tiles_.emplace_back();
    for (const VariableRange& range : einsum.iteration_space)
      tiles_.back()[range.variable] = range.size;
  }
  held_.resize(w_.einsums.size());
}

void TreeDraw::back_outside(std::vector<NodeSpec>& list) {
  std::vector<std::string> outside;
  for (std::size_t t = 0; t < homes_.size(); ++t)
    if (homes_[t] == Home::kOutside) outside.push_back(w_.tensors[t].name);
  while (!outside.empty()) {
    const std::size_t take = dice_.chance(70) ? outside.size() : 1;
    NodeSpec node = storage("DRAM", {outside.begin(), outside.begin() + static_cast<long>(take)});
    list.push_back(node);
    outside.erase(outside.begin(), outside.begin() + static_cast<long>(take));
  }
  if (has("Link") && dice_.chance(70)) add_toll(list, "Link", all_einsums());
}

std::vector<std::size_t> TreeDraw::all_einsums() const {
  std::vector<std::size_t> all;
  for (std::size_t e = 0; e < w_.einsums.size(); ++e) all.push_back(e);
  return all;
}

bool TreeDraw::has(const std::string& component) const {
  return std::any_of(triple_.components.begin(), triple_.components.end(),
                     [&](const ComponentSpec& c) { return c.name == component; });
}

const ComponentSpec& TreeDraw::component(const std::string& name) const {
  return *std::find_if(triple_.components.begin(), triple_.components.end(),
                       [&](const ComponentSpec& c) { return c.name == name; });
}

int TreeDraw::fanout_of(const std::string& component_name, const std::string& dimension) const {
  int fanout = 2;
  for (const DimensionSpec& d : component(component_name).spatial)
    if (d.name == dimension) fanout = d.fanout;
  return fanout;
}

NodeSpec TreeDraw::storage(const std::string& component, std::vector<std::string> tensors) {
  NodeSpec node;
  node.names = std::move(tensors);
  node.component = component;
  return node;
}

NodeSpec TreeDraw::loop_over(const std::vector<RankVariableId>& variables,
                             std::int64_t tile) const {
  NodeSpec node;
  node.kind = NodeSpec::Kind::kTemporal;
  for (RankVariableId v : variables) node.names.push_back(w_[v].name);
  node.tile = tile;
  return node;
}

std::int64_t TreeDraw::tile_below(std::int64_t tile) {
  std::vector<std::int64_t> choices;
  for (std::int64_t smaller = 1; smaller <= tile; ++smaller)
    if (!perfect_ || tile % smaller == 0) choices.push_back(smaller);
  return dice_.any(choices);
}

std::vector<RankVariableId> TreeDraw::shared_class() {
  std::vector<std::vector<RankVariableId>> classes;
  for (const Einsum& maker : w_.einsums)
    for (const AffineExpression& made : maker.output().projection) {
      if (made.terms.empty()) continue;
      std::vector<RankVariableId> found = {made.terms[0].variable};
      const std::size_t rank = static_cast<std::size_t>(&made - maker.output().projection.data());
      for (const Einsum& reader : w_.einsums)
        for (const TensorAccess& access : reader.accesses)
          if (access.tensor == maker.output().tensor && !access.is_output &&
              !access.projection[rank].terms.empty())
            found.insert(found.begin(), access.projection[rank].terms[0].variable);
      std::vector<RankVariableId> distinct;
      for (RankVariableId v : found)
        if (std::find(distinct.begin(), distinct.end(), v) == distinct.end()) distinct.push_back(v);
      classes.push_back(distinct);
    }
  std::vector<RankVariableId> drawn = dice_.any(classes);
  for (std::size_t i = 0; i < classes.size() && dice_.chance(70); ++i) join(drawn, classes[i]);
  if (dice_.chance(8)) std::reverse(drawn.begin(), drawn.end());
  return drawn;
}

void TreeDraw::join(std::vector<RankVariableId>& variables,
                    const std::vector<RankVariableId>& others) {
  const auto has = [](const std::vector<RankVariableId>& list, RankVariableId v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  };
  if (std::none_of(others.begin(), others.end(),
                   [&](RankVariableId v) { return has(variables, v); }))
    return;
  for (RankVariableId v : others)
    if (!has(variables, v)) variables.insert(variables.begin(), v);
}

void TreeDraw::add_toll(std::vector<NodeSpec>& list, const std::string& toll,
                        const std::vector<std::size_t>& einsums) {
  std::set<std::string> names;
  for (std::size_t e : einsums)
    for (TensorId tensor : tensors_of(w_.einsums[e]))
      if (homes_[tensor.index()] == Home::kOutside && dice_.chance(70))
        names.insert(w_[tensor].name);
  if (!names.empty()) list.push_back(storage(toll, {names.begin(), names.end()}));
}

std::int64_t TreeDraw::smallest_tile(const std::vector<RankVariableId>& variables) const {
  std::int64_t smallest = 0;
  for (const Tiles& tiles : tiles_)
    for (RankVariableId v : variables) {
      const auto tile = tiles.find(v);
      if (tile == tiles.end()) continue;
      smallest = smallest ? std::min(smallest, tile->second) : tile->second;
      break;
    }
  return smallest;
}

void TreeDraw::shared_loop(std::vector<NodeSpec>& list, bool is_spatial) {
  const std::vector<RankVariableId> variables = shared_class();
  const std::int64_t tile = tile_below(std::max<std::int64_t>(1, smallest_tile(variables)));
  NodeSpec node = loop_over(variables, tile);
  if (is_spatial) {
    node.kind = NodeSpec::Kind::kSpatial;
    node.component = "GB";
    node.dimension = "g";
  }
  list.push_back(node);
  enter_loop(variables, tile);
}

void TreeDraw::enter_loop(const std::vector<RankVariableId>& variables, std::int64_t tile) {
  for (std::size_t e = w_.einsums.size(); e-- > 0;)
    for (RankVariableId v : variables)
      if (tiles_[e].count(v)) {
        const std::int64_t rows = rows_for_windows(e, v, variables);
        tiles_[e][v] = std::min(tiles_[e][v], rows > 0 ? rows : tile);
        break;
      }
}

std::int64_t TreeDraw::rows_for_windows(std::size_t maker, RankVariableId made,
                                        const std::vector<RankVariableId>& walked) {
  const TensorAccess& output = w_.einsums[maker].output();
  std::int64_t rows = 0;
  for (std::size_t e = maker + 1; e < w_.einsums.size(); ++e)
    for (const TensorAccess& access : w_.einsums[e].accesses)
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        const AffineExpression& index = access.projection[r];
        const bool along = std::any_of(walked.begin(), walked.end(), [&](RankVariableId v) {
          return index.coefficient_of(v) != 0;
        });
        if (access.is_output || access.tensor != output.tensor || !along ||
            output.projection[r].coefficient_of(made) == 0)
          continue;
        // What a reader needs value by value for windows on its own output.
        const bool passes_on =
            index.terms.size() == 1 && rows_for_windows(e, index.terms[0].variable, walked) > 0;
        if (index.terms.size() < 2 && !passes_on) continue;
        std::int64_t needed = 1;
        for (const AffineTerm& term : index.terms)
          needed += term.coefficient * (tiles_[e][term.variable] - 1);
        rows = std::max(rows, needed);
      }
  return rows;
}

void TreeDraw::backing_in_buffer(std::vector<NodeSpec>& list, Home home) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < homes_.size(); ++t)
    if (homes_[t] == home) names.push_back(w_.tensors[t].name);
  if (names.empty()) return;
  for (const std::string& name : names) in_buffer_everywhere(name);
  if (dice_.chance(50)) {
    list.push_back(storage("GB", names));
  } else {
    for (const std::string& name : names) list.push_back(storage("GB", {name}));
  }
}

void TreeDraw::in_buffer_everywhere(const std::string& tensor) {
  for (auto& held : held_) held.insert("GB/" + tensor);
}

void TreeDraw::private_above(std::vector<NodeSpec>& list) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < homes_.size(); ++t)
    if (homes_[t] == Home::kOutside && !held_[0].count("GB/" + w_.tensors[t].name))
      names.push_back(w_.tensors[t].name);
  if (names.empty()) return;
  const std::string name = dice_.any(names);
  NodeSpec node = storage("GB", {name});
  node.persistent = dice_.chance(15);
  if (dice_.chance(25)) {
    const std::size_t e = static_cast<std::size_t>(dice_.below(w_.einsums.size()));
    if (held_[e].count("GB/" + name)) return;
    held_[e].insert("GB/" + name);
    node.einsums = {w_.einsums[e].name};
  } else {
    for (const auto& held : held_)
      if (held.count("GB/" + name)) return;
    in_buffer_everywhere(name);
  }
  list.push_back(node);
}

}  // namespace sluice::triples
