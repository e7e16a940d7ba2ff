#include <algorithm>

#include "triples/draw/collective_draw.h"

// Pipelined and parallel splits whose children have parts of the elements of their own, forward
// tensors and keep resident nodes.

namespace sluice::triples {
namespace {

/// Instances of each of so many children: at least one each.
std::vector<std::int64_t> draw_shares(Dice& dice, std::size_t children, std::int64_t spare) {
  std::vector<std::int64_t> shares(children, 1);
  for (; spare > 0; --spare) ++shares[static_cast<std::size_t>(dice.below(children))];
  return shares;
}

DimensionSpec& dimension_of(Triple& triple, const std::string& name) {
  for (ComponentSpec& component : triple.components)
    for (DimensionSpec& dimension : component.spatial)
      if (dimension.name == name) return dimension;
  return triple.components.front().spatial.at(0);
}

class RegionDraw final : CollectiveDraw {
 public:
  RegionDraw(Dice& dice, Triple& triple, const Workload& workload, Forwards forwards)
      : CollectiveDraw(dice, triple, workload), most_(forwards == Forwards::kMost) {
    perfect_ = dice.chance(85);
  }

  bool run() {
    if (w_.einsums.size() < 2) return false;
    std::vector<NodeSpec>& root = triple_.nodes;
    draw_groups();
    split_.kind = NodeSpec::Kind::kSequential;
    split_.split = dice_.chance(most_ ? 100 : 85) ? "Pipeline" : "Parallel";
    if (dice_.chance(75)) draw_shared_dimension();
    std::vector<NodeSpec> above;
    const std::int64_t loops = dice_.any(std::vector<std::int64_t>{0, 1, 1, 1, 2});
    for (std::int64_t l = 0; l < loops; ++l) steps_above(above);
    if (dice_.chance(25)) spatial_above(above);
    draw_forwards();
    draw_other_homes();
    back_outside(root);
    root.insert(root.end(), above.begin(), above.end());
    backing_in_buffer(root, Home::kBufferBelow);
    if (!elements_above_ && dice_.chance(10)) private_above(root);
    add_children();
    root.push_back(split_);
    spoil_region(root.back());
    if (dice_.chance(4)) spoil();
    return true;
  }

 private:
  using Group = std::vector<std::size_t>;

  void draw_groups() {
    for (std::size_t e : all_einsums()) groups_.push_back({e});
    if (groups_.size() > 2 && dice_.chance(30)) {
      const auto first = static_cast<std::size_t>(dice_.below(groups_.size() - 1));
      groups_[first].push_back(first + 1);
      groups_.erase(groups_.begin() + static_cast<long>(first) + 1);
    }
  }

  void draw_shared_dimension() {
    split_.shared_out = dice_.text_of({"x", "y"});
    const std::int64_t spare = dice_.below(4);
    split_.shares = draw_shares(dice_, groups_.size(), spare);
    DimensionSpec& dimension = dimension_of(triple_, split_.shared_out);
    dimension.fanout = static_cast<int>(groups_.size()) + static_cast<int>(spare);
    if (dice_.chance(30)) dimension.fanout += 1 + static_cast<int>(dice_.below(2));
  }

  /// Groups of elements that do the same side by side.
  void spatial_above(std::vector<NodeSpec>& above) {
    const std::string other = split_.shared_out == "x" ? "y" : "x";
    const bool in_elements = !has_dimension("g") || dice_.chance(25);
    const std::string dimension = in_elements ? other : "g";
    const std::vector<Tiles> before = tiles_;
    std::vector<NodeSpec> loop;
    steps_above(loop);
    if (loop.empty()) return;
    const int fanout = fanout_of(component_of(dimension), dimension);
    for (std::size_t e = 0; e < before.size(); ++e)
      for (const auto& [variable, whole] : before[e])
        if (whole > fanout * tiles_[e][variable]) {
          tiles_ = before;
          return;
        }
    loop.front().kind = NodeSpec::Kind::kSpatial;
    loop.front().component = component_of(dimension);
    loop.front().dimension = dimension;
    above.push_back(loop.front());
    used_.insert(dimension);
    elements_above_ = in_elements;
  }

  std::size_t group_of(std::size_t e) const {
    std::size_t g = 0;
    while (std::find(groups_[g].begin(), groups_[g].end(), e) == groups_[g].end()) ++g;
    return g;
  }

  void draw_forwards() {
    homes_.assign(w_.tensors.size(), Home::kOutside);
    nodes_.resize(w_.einsums.size());
    for (std::size_t t = 0; t < w_.tensors.size(); ++t) {
      const TensorId tensor(t);
      if (!roles_.is_intermediate(tensor) || split_.split != "Pipeline" ||
          !dice_.chance(most_ ? 95 : 70))
        continue;
      const std::size_t maker = maker_of(tensor);
      const std::vector<std::size_t> readers = readers_of(tensor);
      const bool fits = std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) {
        return group_of(reader) > group_of(maker) && !w_.einsums[reader].is_copy_operation;
      });
      if (readers.empty() || (!fits && dice_.chance(95))) continue;
      const std::string memory = elements_above_ || dice_.chance(most_ ? 90 : 75) ? "RF" : "GB";
      split_.forward.emplace_back(w_[tensor].name, memory);
      homes_[t] = Home::kElsewhere;
      add_node(maker, memory, tensor);
      for (std::size_t reader : readers) add_node(reader, memory, tensor);
    }
  }

  void add_node(std::size_t e, const std::string& memory, TensorId tensor) {
    nodes_[e].emplace_back(memory, w_[tensor].name);
    held_[e].insert(memory + "/" + w_[tensor].name);
    if (memory == "RF") held_[e].insert("GB/" + w_[tensor].name);
  }

  void draw_other_homes() {
    for (std::size_t t = 0; t < homes_.size(); ++t)
      if (roles_.is_intermediate(TensorId(t)) && homes_[t] == Home::kOutside && !elements_above_ &&
          dice_.chance(50))
        homes_[t] = Home::kBufferBelow;
  }

  void add_children() {
    for (const Group& group : groups_) {
      if (group.size() == 1) {
        split_.children.push_back(branch(group.front()));
        continue;
      }
      NodeSpec inner;
      inner.kind = NodeSpec::Kind::kSequential;
      inner.split =
          dice_.text_of({"Sequential", "Sequential", "Sequential", "Parallel", "Pipeline"});
      for (std::size_t e : group) inner.children.push_back(branch(e));
      split_.children.push_back({inner});
    }
  }

  // --- children

  std::vector<NodeSpec> branch(std::size_t e) override {
    std::vector<NodeSpec> list;
    const bool forwards = !nodes_[e].empty();
    if (!used_.count("g") && has_dimension("g") && dice_.chance(30)) own_loop(list, e, "g");
    add_nodes(list, e, "GB");
    add_residents(list, e, "GB");
    const bool has_inner = std::any_of(nodes_[e].begin(), nodes_[e].end(),
                                       [](const auto& node) { return node.first == "RF"; });
    if (!elements_above_) {
      if (has_inner) {
        std::vector<NodeSpec> in_buffer;
        insert_storages(in_buffer, e, "GB", 30);
        list.insert(list.end(), in_buffer.begin(), in_buffer.end());
      } else {
        outer_part(list, e);
      }
    }
    const bool on_fork = !forwards && draw_fork(e);
    for (const char* dimension : {"x", "y"})
      if (!used_.count(dimension) && dice_.chance(most_ ? 90 : 60)) own_loop(list, e, dimension);
    add_port(list, e);
    add_nodes(list, e, "RF");
    add_residents(list, e, "RF");
    inner_part(list, e, on_fork);
    for (NodeSpec& node : list)
      if (node.kind == NodeSpec::Kind::kStorage && dice_.chance(3)) node.resident = true;
    return list;
  }

  void add_nodes(std::vector<NodeSpec>& list, std::size_t e, const std::string& memory) {
    for (const auto& [at, tensor] : nodes_[e])
      if (at == memory) list.push_back(storage(memory, {tensor}));
  }

  /// Nodes of inputs that are filled once, most of them below no step loop that moves them.
  void add_residents(std::vector<NodeSpec>& list, std::size_t e, const std::string& memory) {
    if (memory == "GB" && elements_above_) return;
    for (TensorId tensor : tensors_of(w_.einsums[e])) {
      const std::string key = memory + "/" + w_[tensor].name;
      if (roles_.is_made(tensor) || held_[e].count(key) || !dice_.chance(30)) continue;
      held_[e].insert(key);
      NodeSpec node = storage(memory, {w_[tensor].name});
      node.resident = dice_.chance(75);
      list.push_back(node);
    }
  }

  /// A spatial loop of one child, over as many instances as it has; for what is forwarded along a
  /// rank of it.
  void own_loop(std::vector<NodeSpec>& list, std::size_t e, const std::string& dimension) {
    std::int64_t most = fanout_of(component_of(dimension), dimension);
    if (dimension == split_.shared_out) most = split_.shares[group_of(e)];
    if (dice_.chance(2)) ++most;
    const bool sends = std::any_of(nodes_[e].begin(), nodes_[e].end(), [&](const auto& node) {
      return node.second == w_[w_.einsums[e].output().tensor].name;
    });
    std::vector<std::pair<RankVariableId, std::int64_t>> choices;
    for (const auto& [variable, tile] : tiles_[e]) {
      if (sends && !touches(w_.einsums[e].output(), variable) && !dice_.chance(2)) continue;
      for (std::int64_t trips = 2; trips <= most && trips <= tile; ++trips)
        if (tile % trips == 0 || !perfect_)
          choices.emplace_back(variable, (tile + trips - 1) / trips);
    }
    if (choices.empty()) return;
    const auto [variable, tile] = dice_.any(choices);
    NodeSpec node = loop_over({variable}, tile);
    node.kind = NodeSpec::Kind::kSpatial;
    node.component = component_of(dimension);
    node.dimension = dimension;
    list.push_back(node);
    tiles_[e][variable] = tile;
  }

  /// Something that is likely to be wrong.
  void spoil_region(NodeSpec& split) {
    if (!dice_.chance(6)) return;
    switch (dice_.below(5)) {
      case 0:
        if (!split.shares.empty()) split.shares.back() += 1 + dice_.below(3);
        break;
      case 1:
        if (!split.shares.empty()) std::swap(split.shares.front(), split.shares.back());
        break;
      case 2:
        if (!split.forward.empty()) split.forward.pop_back();
        break;
      case 3:
        if (!split.forward.empty()) split.forward.back().second = dice_.text_of({"GB", "RF"});
        break;
      default:
        std::swap(split.children.front(), split.children.back());
        break;
    }
  }

  bool most_ = false;  ///< splits forward
  NodeSpec split_;
  std::vector<Group> groups_;  ///< the Einsums of each child
  std::vector<std::vector<std::pair<std::string, std::string>>> nodes_;  ///< memory, tensor
  std::set<std::string> used_;                                           ///< dimensions, above
  bool elements_above_ = false;  ///< a loop over elements stands above the split
};

NodeSpec node_of(NodeSpec::Kind kind, std::vector<std::string> names,
                 const std::string& component) {
  NodeSpec node;
  node.kind = kind;
  node.names = std::move(names);
  node.component = component;
  return node;
}

}  // namespace

bool draw_regions(Dice& dice, Triple& triple, const Workload& workload, Forwards forwards) {
  return RegionDraw(dice, triple, workload, forwards).run();
}

void share_out(Dice& dice, Triple& triple) {
  std::vector<NodeSpec>* list = &triple.nodes;
  while (!list->empty() && list->back().kind == NodeSpec::Kind::kSequential &&
         list->back().split == "Sequential")
    list =
        &list->back().children[static_cast<std::size_t>(dice.below(list->back().children.size()))];
  if (list->empty() || list->back().kind != NodeSpec::Kind::kSequential) return;
  NodeSpec& split = list->back();
  const auto children = static_cast<std::size_t>(std::count_if(
      split.children.begin(), split.children.end(), [](const std::vector<NodeSpec>& child) {
        return child.size() != 1 || child[0].kind != NodeSpec::Kind::kCollective;
      }));
  if (children == 0) return;
  split.shared_out = dice.text_of({"x", "y"});
  DimensionSpec& dimension = dimension_of(triple, split.shared_out);
  split.shares =
      draw_shares(dice, children, dimension.fanout * static_cast<std::int64_t>(children - 1));
  dimension.fanout *= static_cast<int>(children);
  dimension.fanout += static_cast<int>(children);
}

void put_in_region(Dice& dice, Triple& triple) {
  clear_incremental(triple.nodes);
  triple.persistent.clear();
  triple.rank_sizes.emplace_back("ZZ", 2 + dice.below(3));
  triple.einsums.push_back({"Zout[zz] = Zin[zz] * Zin[zz]", "Zout", false, 1});
  std::size_t outside = 0;
  while (outside < triple.nodes.size() && triple.nodes[outside].kind == NodeSpec::Kind::kStorage &&
         triple.nodes[outside].component == "DRAM")
    ++outside;
  NodeSpec split;
  split.kind = NodeSpec::Kind::kSequential;
  split.split = dice.text_of({"Pipeline", "Parallel"});
  const auto begin = triple.nodes.begin() + static_cast<long>(outside);
  std::vector<NodeSpec> own(begin, triple.nodes.end());
  triple.nodes.erase(begin, triple.nodes.end());
  split.children = {{node_of(NodeSpec::Kind::kTemporal, {"zz"}, ""),
                     node_of(NodeSpec::Kind::kCompute, {"Zout"}, "MAC")},
                    std::move(own)};
  split.shared_out = dice.text_of({"x", "y"});
  for (const NodeSpec& node : split.children[1])
    if (!node.shared_out.empty() && dice.chance(90)) split.shared_out = node.shared_out;
  DimensionSpec& dimension = dimension_of(triple, split.shared_out);
  split.shares = {1 + dice.below(3), dimension.fanout};
  dimension.fanout += static_cast<int>(split.shares[0]);
  if (dice.chance(20)) {
    std::swap(split.children[0], split.children[1]);
    std::swap(split.shares[0], split.shares[1]);
  }
  triple.nodes.push_back(node_of(NodeSpec::Kind::kStorage, {"Zin", "Zout"}, "DRAM"));
  triple.nodes.push_back(split);
}

}  // namespace sluice::triples
